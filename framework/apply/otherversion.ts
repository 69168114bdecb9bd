import type { Steps, Work } from '../json/json.ts'
import { isMembers, type Members } from './fieldpath/fieldpath.ts'
import { differenceSteps, type FieldSet, unionSteps } from './fieldpath/fieldset.ts'
import type { ManagedEntry } from './managed.ts'
import { comparisonSteps } from './typed/compare.ts'
import { removeSteps } from './typed/remove.ts'
import type { MergeType } from './typed/types.ts'

/** The types of a kind by apiVersion; undefined: the version does not exist. */
export type VersionTypes = (apiVersion: string) => MergeType | undefined

/** Converts an object to another version of its kind. */
export type ConvertObject = (object: Members, apiVersion: string) => Promise<unknown>

/** A conversion failed; `reason` is its error. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError'
  readonly reason: unknown

  constructor(reason: unknown) {
    super(String(reason))
    this.reason = reason
  }
}

/** The object in a version; the same object when it is in it already. Throws a `ConversionError`. */
export function* inVersion(object: unknown, apiVersion: string, convert: ConvertObject): Steps<unknown> {
  if (!isMembers(object) || object.apiVersion === apiVersion) return object
  let converted: unknown
  let failure: ConversionError | undefined
  yield convert(object, apiVersion).then(
    result => {
      converted = result
    },
    error => {
      failure = new ConversionError(error)
    },
  )
  if (failure !== undefined) throw failure
  return converted
}

/** An object, and how it is seen in other versions. */
export interface ObjectInVersions {
  readonly object: Members
  readonly versions: VersionTypes
  readonly convert: ConvertObject
}

/** The fields of one manager, or of several that name them in the same version. */
export type FieldsInVersion = Pick<ManagedEntry, 'apiVersion' | 'fields'>

/**
 * The fields of an entry as the version of the object names them: those that change in this version when the entry's version loses
 * the entry's fields. Fields of the object without a name in the entry's version are never among them, nor are those of the same name that
 * others set below a field of the entry.
 */
export function* fieldsHere(
  { object, versions, convert }: ObjectInVersions,
  { apiVersion, fields }: FieldsInVersion,
  work: Work,
): Steps<FieldSet> {
  const [there, here] = [versions(apiVersion), versions(String(object.apiVersion))]
  if (there === undefined || here === undefined || object.apiVersion === apiVersion) return fields
  const before = yield* inVersion(object, apiVersion, convert)
  const after = yield* removeSteps(there, before, fields, work)
  const version = String(object.apiVersion)
  const whole = yield* inVersion(before, version, convert)
  const rest = yield* inVersion(after, version, convert)
  const { removed, modified } = yield* comparisonSteps(here, whole, rest)
  const lost = yield* comparisonSteps(there, before, after)
  const ofOthers = yield* differenceSteps(lost.removed, fields, work)
  return yield* differenceSteps(yield* unionSteps(removed, modified, work), ofOthers, work)
}
