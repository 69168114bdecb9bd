import type { FieldStep } from '../../../framework/lens/fieldcutter.ts'
import { isFields } from './values.ts'

/** A path of fields: `spec.token`, `metadata.annotations[example.com/internal]`, `spec.items[*].secret`. */
export interface FieldSteps {
  readonly text: string
  readonly steps: readonly FieldStep[]
}

const wholePath = /^[^.[\]]+(?:\.[^.[\]]+|\[[^\]]+\])*$/

/** undefined for a text that is no path, and for one that ends with `[*]`. */
export function parseFieldPath(text: string): FieldSteps | undefined {
  if (!wholePath.test(text)) return undefined
  const steps = [...text.matchAll(/(?:^|\.)([^.[\]]+)|\[([^\]]+)\]/g)].map(
    ([, name, bracketed = '']): FieldStep => (bracketed === '*' ? 'each' : { key: name ?? bracketed }),
  )
  return steps.at(-1) === 'each' ? undefined : { text, steps }
}

/** Whether something is at the path. */
export function hasPath(value: unknown, [step, ...rest]: readonly FieldStep[]): boolean {
  if (step === undefined) return true
  if (step === 'each') {
    const isBelow = (part: unknown): boolean => hasPath(part, rest)
    if (Array.isArray(value)) return value.some(isBelow)
    return isFields(value) && Object.values(value).some(isBelow)
  }
  return isFields(value) && Object.hasOwn(value, step.key) && hasPath(value[step.key], rest)
}
