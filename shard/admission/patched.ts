import { inTurns, type Pace } from '../../framework/async/awaitable.ts'
import type { KindVersions } from '../../framework/contract/admission.ts'
import { type Extent, exceedsSteps } from '../../framework/json/extent.ts'
import { StatusError, tooLarge } from '../../framework/meta/errors.ts'
import { type KubeObject, versionIn } from '../../framework/meta/object.ts'
import { checkMembers } from '../../framework/wire/limits.ts'
import { checkTexts, DecodeError, MissingKindError } from '../../framework/wire/metadata.ts'
import { bodyLimit, mostValues } from '../../framework/wire/parsebody.ts'

/** As large as a body may be. */
const most: Extent = { values: mostValues, characters: bodyLimit }

/** The result of a webhook or a policy. */
export interface Patched {
  /** What it made of `before`: any JSON. */
  readonly object: unknown
  readonly before: KubeObject
  readonly versions: KindVersions
  /** The webhook or the policy, for the message. */
  readonly who: string
}

/** The result is no object of its kind. The message is that of the decoder. */
export class MalformedResult extends Error {}

/**
 * The patched object, decoded as a body. Throws 413 for one that is too large (each of many policies and webhooks may add
 * to it), with the limits of a body, and a `MalformedResult` for a value that does not have the type of its field.
 */
export async function decodedResult(
  { object, before, versions, who }: Patched,
  pace: Pace,
): Promise<KubeObject> {
  if (await inTurns(exceedsSteps(object, most), pace))
    throw tooLarge(
      `the object has more than ${most.values} values or ${most.characters} characters after ${who}`,
    )
  await inTurns(checkMembers(object, undefined, `, after ${who}`), pace)
  checkTexts((object as KubeObject | null)?.metadata, `, after ${who}`)
  return versions.decode(object, versionIn(before.apiVersion)).catch(error => {
    throw isMalformed(error) ? new MalformedResult(reasonOf(error)) : error
  })
}

const isMalformed = (error: unknown): error is Error =>
  error instanceof DecodeError ||
  error instanceof MissingKindError ||
  (error instanceof StatusError && [400, 422].includes(error.status.code))

const reasonOf = (error: Error): string =>
  error instanceof MissingKindError ? "Object 'Kind' is missing" : error.message
