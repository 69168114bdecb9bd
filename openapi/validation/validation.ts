import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../framework/meta/errors.ts'
import { formatPath, type PathStep } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** The state of a validation. Paths are formatted only for errors. */
export interface Walk {
  readonly steps: PathStep[]
  readonly errors: FieldError[]
  /** The number of visited values, by which the closest of several failing alternatives is chosen. */
  visits: number
  /** An upper bound of the steps of regular expressions. */
  matching: number
}

/** Validation stops at this number of errors. */
export const maxErrors = 1000

export const isFull = (walk: Walk): boolean => walk.errors.length >= maxErrors

/**
 * Appends the errors of a value. `old` is the correlated old value; undefined if there is none, or without ratcheting
 * (rules.md 7.27).
 */
export type ValueCheck = (value: unknown, old: unknown, walk: Walk) => void

/** A check that needs no old value. */
export type ValueRule<T = unknown> = (value: T, walk: Walk) => void

/** Compiles a nested schema. */
export type CompileBelow = (schema: JSONSchemaProps) => ValueCheck

export const newWalk = (): Walk => ({ steps: [], errors: [], visits: 0, matching: 0 })

export const pathOf = (walk: Walk): string => formatPath(walk.steps)

/** Checks a nested value. Drops the errors of an unchanged value. */
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
