import type { Work } from '../json/json.ts'
import { intersectionSteps } from './fieldpath/common.ts'
import {
  differenceSteps,
  type FieldSet,
  isEmpty,
  noFields,
  type SetSteps,
  unionSteps,
} from './fieldpath/fieldset.ts'
import { identityOf, type Managed, type ManagedEntry } from './managed.ts'
import { removeSteps } from './typed/remove.ts'
import { fieldSetSteps, namedFieldSteps } from './typed/tofieldset.ts'
import type { MergeType } from './typed/types.ts'
import type { VersionTypes } from './update.ts'

type Steps = Generator<void, unknown>

interface Pruning {
  /** The live object with the configuration merged into it. */
  readonly merged: unknown
  /** All entries, with the fields that the manager applies now. */
  readonly managed: Managed
  readonly versions: VersionTypes
  readonly work: Work
}

/**
 * Removes the fields that the manager applied before and no longer applies, and that no other manager owns
 * (`merge.Updater.prune`; rules.md 5.50). In steps.
 */
export function* prune(pruning: Pruning, last: ManagedEntry | undefined): Steps {
  const { merged, versions, work } = pruning
  const type = last && versions(last.apiVersion)
  if (last === undefined || type === undefined) return merged
  const own = pruning.managed.get(identityOf(last))
  if (own?.apiVersion === last.apiVersion && isEmpty(yield* differenceSteps(last.fields, own.fields, work)))
    return merged
  const named = yield* namedFieldSteps(last.fields, type, work)
  const without = yield* removeSteps(type, merged, named, work)
  const owned = yield* withOwned(pruning, without, last.apiVersion)
  return yield* withDangling(pruning, owned, { type, named })
}

/** Restores the fields that other entries own, those in the pruned version first. */
function* withOwned({ merged, managed, versions, work }: Pruning, pruned: unknown, first: string): Steps {
  const owned = new Map<string, FieldSet>([[first, noFields]])
  for (const { apiVersion, fields } of managed.values())
    owned.set(apiVersion, yield* unionSteps(owned.get(apiVersion) ?? noFields, fields, work))
  let left = pruned
  for (const [apiVersion, fields] of owned) {
    const type = versions(apiVersion)
    if (type !== undefined) left = yield* addBack({ merged, pruned: left, type, work }, fields)
  }
  return left
}

interface States {
  readonly merged: unknown
  readonly pruned: unknown
  readonly type: MergeType
  readonly work: Work
}

function* addBack({ merged, pruned, type, work }: States, owned: FieldSet): Steps {
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
): Steps {
  const before = yield* namedIn(type, merged, work)
  const gone = yield* differenceSteps(before, yield* namedIn(type, pruned, work), work)
  return yield* removeSteps(type, merged, yield* intersectionSteps(gone, named, work), work)
}

function* namedIn(type: MergeType, value: unknown, work: Work): SetSteps {
  return yield* namedFieldSteps(yield* fieldSetSteps(type, value, work), type, work)
}
