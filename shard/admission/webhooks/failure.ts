import { isObject, memberOf, textAt } from '../../../framework/formats/values.ts'
import { badRequest, internalError, type StatusDetails, StatusError } from '../../../framework/meta/errors.ts'

/** 500: the webhook could not be asked (chapter 40, rule 2.58). */
export const failedCall = (name: string, why: string): StatusError =>
  internalError(`failed calling webhook ${JSON.stringify(name)}: ${why}`)

/** 400: the webhook does something elsewhere, and nothing may happen. */
export const noDryRun = (name: string): StatusError =>
  badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)

/** 500, whatever its failure policy: there is no object that a patch could be for. */
export const nothingToPatch = (name: string): StatusError =>
  internalError(
    `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
  )

/** What a webhook said when it refused, with its own code and reason where it gave some. */
export function denied(name: string, result: unknown): StatusError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`
  const [message, reason] = [textAt(result, 'message'), textAt(result, 'reason')]
  const why = message || reason
  const code = Number(memberOf(result, 'code') ?? 0)
  const details = memberOf(result, 'details')
  return new StatusError(
    code >= 400 && code < 600 ? code : 400,
    reason,
    why === '' ? `${by} without explanation` : `${by}: ${why}`,
    isObject(details) ? (details as StatusDetails) : undefined,
  )
}
