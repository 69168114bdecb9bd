import type { Steps, Work } from '../json/json.ts'
import { intersectionSteps } from './fieldpath/common.ts'
import { isMembers } from './fieldpath/fieldpath.ts'
import {
  differenceSteps,
  type FieldSet,
  isEmpty,
  noFields,
  type SetSteps,
  unionSteps,
} from './fieldpath/fieldset.ts'
import { identityOf, type Managed, type ManagedEntry } from './managed.ts'
import {
  type ConvertObject,
  type FieldsInVersion,
  fieldsHere,
  inVersion,
  type VersionTypes,
} from './otherversion.ts'
import { removeSteps } from './typed/remove.ts'
import { fieldSetSteps, namedFieldSteps } from './typed/tofieldset.ts'
import type { MergeType } from './typed/types.ts'

interface Pruning {
  /** The live object with the configuration merged into it. */
  readonly merged: unknown
  /** All entries, with the fields that the manager applies now. */
  readonly managed: Managed
  readonly versions: VersionTypes
  /** undefined: fields have the same names in all versions. */
  readonly convert: ConvertObject | undefined
  readonly work: Work
}

/**
 * Removes the fields that the manager applied before and no longer applies, and that no other manager owns
 * (`merge.Updater.prune`; rules.md 5.50). In steps.
 */
export function* prune(pruning: Pruning, last: ManagedEntry | undefined): Steps<unknown> {
  const { merged, convert, work } = pruning
  const type = last && typeFor(pruning, last)
  if (last === undefined || type === undefined) return merged
  const own = pruning.managed.get(identityOf(last))
  if (own?.apiVersion === last.apiVersion && isEmpty(yield* differenceSteps(last.fields, own.fields, work)))
    return merged
  const fields = convert === undefined ? last.fields : yield* inOwnVersion(pruning, last)
  const named = yield* namedFieldSteps(fields, type, work)
  const without = yield* removeSteps(type, merged, named, work)
  const owned = yield* withOwned(pruning, without, versionFor(pruning, last))
  const states = { merged, pruned: owned, type, work }
  const gone = yield* goneOf(states, named)
  const kept = yield* keptParents(pruning, states, { last, gone })
  return yield* removeSteps(type, merged, yield* differenceSteps(gone, kept, work), work)
}

/** The version in which an entry's fields are removed: that of the object where objects can be converted. */
const versionFor = ({ merged, convert }: Pruning, { apiVersion }: FieldsInVersion): string =>
  convert !== undefined && isMembers(merged) ? String(merged.apiVersion) : apiVersion

/** undefined: the version of the entry does not exist. */
const typeFor = (pruning: Pruning, entry: FieldsInVersion): MergeType | undefined =>
  pruning.versions(entry.apiVersion) && pruning.versions(versionFor(pruning, entry))

function* inOwnVersion(
  { merged, versions, convert, work }: Pruning,
  entry: FieldsInVersion,
): Steps<FieldSet> {
  if (convert === undefined || !isMembers(merged)) return entry.fields
  return yield* fieldsHere({ object: merged, versions, convert }, entry, work)
}

/** Restores the fields that other entries own, those in the pruned version first. */
function* withOwned(pruning: Pruning, pruned: unknown, first: string): Steps<unknown> {
  const { merged, managed, work } = pruning
  const owned = new Map<string, FieldSet>([[first, noFields]])
  // Together: each conversion may be a call of a webhook, and there may be thousands of managers.
  for (const { apiVersion, fields } of managed.values())
    owned.set(apiVersion, yield* unionSteps(owned.get(apiVersion) ?? noFields, fields, work))
  let left = pruned
  for (const [apiVersion, fields] of owned) {
    const group = { apiVersion, fields }
    const type = typeFor(pruning, group)
    if (type === undefined) continue
    left = yield* addBack({ merged, pruned: left, type, work }, yield* inOwnVersion(pruning, group))
  }
  return left
}

interface States {
  readonly merged: unknown
  readonly pruned: unknown
  readonly type: MergeType
  readonly work: Work
}

function* addBack({ merged, pruned, type, work }: States, owned: FieldSet): Steps<unknown> {
  const left = yield* namedIn(type, pruned, work)
  const kept = yield* unionSteps(left, yield* namedFieldSteps(owned, type, work), work)
  const gone = yield* differenceSteps(yield* namedIn(type, merged, work), kept, work)
  return yield* removeSteps(type, merged, gone, work)
}

/** The removed fields that the manager owned; `named` are those that it owned. Others are restored. */
function* goneOf({ merged, pruned, type, work }: States, named: FieldSet): SetSteps {
  const before = yield* namedIn(type, merged, work)
  const gone = yield* differenceSteps(before, yield* namedIn(type, pruned, work), work)
  return yield* intersectionSteps(gone, named, work)
}

interface Gone {
  readonly last: FieldsInVersion
  readonly gone: FieldSet
}

/**
 * The parents among the gone fields that are not gone in the version of the last apply: what is left below them is a
 * field in that version only, such as an empty list that is atomic there.
 */
function* keptParents(pruning: Pruning, states: States, { last, gone }: Gone): Steps<FieldSet> {
  const { merged, versions, convert, work } = pruning
  const there = versions(last.apiVersion)
  if (convert === undefined || there === undefined || !isMembers(merged)) return noFields
  if (merged.apiVersion === last.apiVersion) return noFields
  const parents = yield* differenceSteps(gone, yield* fieldSetSteps(states.type, merged, work), work)
  if (isEmpty(parents)) return noFields
  const before = yield* inVersion(merged, last.apiVersion, convert)
  const after = yield* inVersion(states.pruned, last.apiVersion, convert)
  const named = yield* namedFieldSteps(last.fields, there, work)
  const fields = yield* goneOf({ merged: before, pruned: after, type: there, work }, named)
  const goneHere = yield* inOwnVersion(pruning, { apiVersion: last.apiVersion, fields })
  return yield* differenceSteps(parents, goneHere, work)
}

function* namedIn(type: MergeType, value: unknown, work: Work): SetSteps {
  return yield* namedFieldSteps(yield* fieldSetSteps(type, value, work), type, work)
}
