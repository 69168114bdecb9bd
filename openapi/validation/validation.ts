import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../framework/meta/errors.ts'
import { formatPath, type PathStep } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** One walk over one value. Paths cost nothing until there is something to say. */
export interface Walk {
  readonly steps: PathStep[]
  readonly errors: FieldError[]
  /** How many values were looked at: tells which of several failing alternatives came closest. */
  visits: number
  /** How many steps regular expressions have taken, at most. */
  matching: number
}

/** With so many errors the rest is not looked at. */
export const maxErrors = 1000

export const isFull = (walk: Walk): boolean => walk.errors.length >= maxErrors

/**
 * Appends what is wrong with a value. `old` is the value that was at the correlated place before; undefined when
 * there was none, or when nothing is compared (chapter 40, section 7.5).
 */
export type ValueCheck = (value: unknown, old: unknown, walk: Walk) => void

/** Checks of one value that need no old one. */
export type ValueRule<T = unknown> = (value: T, walk: Walk) => void

/** Compiles a schema below the one at hand. */
export type CompileBelow = (schema: JSONSchemaProps) => ValueCheck

export const newWalk = (): Walk => ({ steps: [], errors: [], visits: 0, matching: 0 })

export const pathOf = (walk: Walk): string => formatPath(walk.steps)

/** Checks the value one step below. Errors at a value that has not changed are dropped. */
export function checkBelow(
  step: PathStep,
  check: ValueCheck,
  values: readonly [unknown, unknown],
  walk: Walk,
): void {
  const [value, old] = values
  const before = walk.errors.length
  walk.steps.push(step)
  check(value, old, walk)
  walk.steps.pop()
  if (walk.errors.length > before && old !== undefined && isDeepStrictEqual(value, old))
    walk.errors.length = before
}
