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
import { type ConvertObject, type FieldsInVersion, fieldsHere, type VersionTypes } from './otherversion.ts'
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
  return yield* withDangling(pruning, owned, { type, named })
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

/** Restores removed fields that the manager did not own; `named` are those that it owned. */
function* withDangling(
  { merged, work }: Pruning,
  pruned: unknown,
  { type, named }: { readonly type: MergeType; readonly named: FieldSet },
): Steps<unknown> {
  const before = yield* namedIn(type, merged, work)
  const gone = yield* differenceSteps(before, yield* namedIn(type, pruned, work), work)
  return yield* removeSteps(type, merged, yield* intersectionSteps(gone, named, work), work)
}

function* namedIn(type: MergeType, value: unknown, work: Work): SetSteps {
  return yield* namedFieldSteps(yield* fieldSetSteps(type, value, work), type, work)
}
