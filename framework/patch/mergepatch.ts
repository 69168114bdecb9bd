import { membersFrom } from '../apply/fieldpath/fieldpath.ts'
import { atOnce, Work } from '../json/json.ts'
import { isMembers } from '../json/values.ts'
import { badRequest } from '../meta/errors.ts'
import { jsonType } from '../wire/metadata.ts'

type Members = Readonly<Record<string, unknown>>

/** Throws 400 if the patch is not an object (rules.md 5.8). */
export function readMergePatch(value: unknown): Members {
  if (isMembers(value)) return value
  if (value === null) throw badRequest('Invalid JSON Patch')
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`,
  )
}

/** The members of an object, in steps. Loops: `Object.entries` makes a list for each of tens of thousands. */
export function* mapOf(object: Members, work: Work): Generator<void, Map<string, unknown>> {
  const members = new Map<string, unknown>()
  for (const key in object) {
    members.set(key, object[key])
    if (work.isStepDone()) yield
  }
  return members
}

/** RFC 7386: null deletes a member, arrays are replaced, nulls in new objects are dropped. Changes neither argument. */
export const applyMergePatch = (document: unknown, patch: unknown): unknown =>
  atOnce(applyMergePatchSteps(document, patch, new Work()))

/** What `applyMergePatch` returns, in steps. */
export function* applyMergePatchSteps(
  document: unknown,
  patch: unknown,
  work: Work,
): Generator<void, unknown> {
  if (!isMembers(patch)) return patch
  const members = yield* mapOf(isMembers(document) ? document : {}, work)
  for (const key in patch) {
    const value = patch[key]
    if (value === null) members.delete(key)
    else if (!isMembers(value)) members.set(key, value)
    else members.set(key, yield* applyMergePatchSteps(members.get(key), value, work))
    if (work.isStepDone()) yield
  }
  return yield* membersFrom(members, work)
}
