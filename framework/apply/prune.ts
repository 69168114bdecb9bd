import { difference, type FieldSet, intersection, isEmpty, noFields, union } from './fieldpath/fieldset.ts'
import { identityOf, type Managed, type ManagedEntry } from './managed.ts'
import { removeItems } from './typed/remove.ts'
import { toFieldSet, withNamedFields } from './typed/tofieldset.ts'
import type { MergeType } from './typed/types.ts'
import type { VersionTypes } from './update.ts'

interface Pruning {
  /** The live object with the configuration merged into it. */
  readonly merged: unknown
  /** All entries, with the fields that the manager applies now. */
  readonly managed: Managed
  readonly versions: VersionTypes
}

/**
 * Removes the fields that the manager applied before and no longer applies, and that no other manager owns
 * (`merge.Updater.prune`; rules.md 5.50).
 */
export function prune(pruning: Pruning, last: ManagedEntry | undefined): unknown {
  const { merged, versions } = pruning
  const type = last && versions(last.apiVersion)
  if (last === undefined || type === undefined) return merged
  const own = pruning.managed.get(identityOf(last))
  if (own?.apiVersion === last.apiVersion && isEmpty(difference(last.fields, own.fields))) return merged
  const without = removeItems(type, merged, withNamedFields(last.fields, type))
  return withDangling(pruning, withOwned(pruning, without, last.apiVersion), { type, last: last.fields })
}

/** Restores the fields that other entries own, those in the pruned version first. */
function withOwned({ merged, managed, versions }: Pruning, pruned: unknown, first: string): unknown {
  const owned = new Map<string, FieldSet>([[first, noFields]])
  for (const { apiVersion, fields } of managed.values()) {
    owned.set(apiVersion, union(owned.get(apiVersion) ?? noFields, fields))
  }
  return [...owned].reduce((left, [apiVersion, fields]) => {
    const type = versions(apiVersion)
    return type === undefined ? left : addBack({ merged, pruned: left }, fields, type)
  }, pruned)
}

interface States {
  readonly merged: unknown
  readonly pruned: unknown
}

function addBack({ merged, pruned }: States, owned: FieldSet, type: MergeType): unknown {
  const kept = union(namedIn(type, pruned), withNamedFields(owned, type))
  return removeItems(type, merged, difference(namedIn(type, merged), kept))
}

/** Restores removed fields that the manager did not own. */
function withDangling(
  { merged }: Pruning,
  pruned: unknown,
  { type, last }: { readonly type: MergeType; readonly last: FieldSet },
): unknown {
  const gone = difference(namedIn(type, merged), namedIn(type, pruned))
  return removeItems(type, merged, intersection(gone, withNamedFields(last, type)))
}

const namedIn = (type: MergeType, value: unknown): FieldSet => withNamedFields(toFieldSet(type, value), type)
