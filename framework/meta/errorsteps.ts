import { type Steps, Work } from '../json/json.ts'
import type { FieldError } from './errors.ts'

/** The errors of an object, found in steps, each of less than a millisecond or of one expression. */
export type ErrorSteps = Steps<readonly FieldError[]>

/** The errors of the items, in their order. */
export function* itemErrors<T>(
  items: Iterable<T>,
  check: (item: T, index: number) => readonly FieldError[],
): ErrorSteps {
  const errors: FieldError[] = []
  const work = new Work()
  let index = 0
  for (const item of items) {
    for (const error of check(item, index++)) errors.push(error)
    if (work.isStepDone()) yield
  }
  return errors
}
