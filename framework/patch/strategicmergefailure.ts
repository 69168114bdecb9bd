import { goText, goType } from '../json/gotext.ts'
import { StatusError } from '../meta/errors.ts'

/** Failures that Kubernetes does not tell apart from its own: 500 without a reason, but with a text. */
export const mergeFailed = (text: string): StatusError => new StatusError(500, '', text)

export const badArgument = (expected: unknown, actual: unknown): StatusError =>
  mergeFailed(`expected a ${goType(expected)}, but received a ${goType(actual)}`)

export const noMergeKey = (item: unknown, mergeKey: string): StatusError =>
  mergeFailed(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`)

/** 422, as every list of lists (chapter 40, rule 5.16). */
export const listOfLists = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    causes: [{ message: 'lists of lists are not supported' }],
  })
