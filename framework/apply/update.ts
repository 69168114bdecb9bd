import { untrackedFields } from '../meta/objectmeta.ts'
import { type Change, type Difference, differencesOf, type Versions } from './change.ts'
import { difference, type FieldSet, isEmpty, setOfFields, union } from './fieldpath/fieldset.ts'
import { type Entry, identityOf, type Managed, type Manager, managedFrom } from './managed.ts'
import { reconcile } from './reconcile.ts'

/** `stripMeta` of `apimachinery/pkg/util/managedfields/internal`; `clusterName` was a field of ObjectMeta. */
const untracked = setOfFields(
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[...untrackedFields, 'clusterName'].map(name => ['metadata', name]),
)

export const ownable = (fields: FieldSet): FieldSet => difference(fields, untracked)

/** The entries as the schemas of today have them; entries of versions that are gone are dropped. */
export function reconciled(managed: Managed, versions: Versions): Managed {
  const entries = [...managed.values()].flatMap(entry => {
    const type = versions(entry.apiVersion)
    return type === undefined ? [] : [{ ...entry, fields: reconcile(entry.fields, type) }]
  })
  return managedFrom(entries)
}

/** What an entry keeps when somebody else has made a change. */
export const keeping = ({ fields }: Entry, { removed, set }: Difference): FieldSet =>
  difference(difference(fields, set), removed)

/**
 * Who owns what after an update (chapter 40, rule 5.49): whoever made it owns what it changed, everything else stays with
 * its owners. `time` is when.
 */
export function updateManaged(managed: Managed, change: Change, by: Manager, time: string): Managed {
  const differenceAt = differencesOf(change)
  const others = [...reconciled(managed, change.versions).values()].flatMap(entry => {
    const changed = differenceAt(entry.apiVersion)
    return changed === undefined ? [] : [{ ...entry, fields: keeping(entry, changed) }]
  })
  const kept = managedFrom(others)
  const own = ownable(differenceAt(by.apiVersion)?.set ?? setOfFields())
  if (isEmpty(own)) return kept
  const before = kept.get(identityOf(by))
  const fields = before === undefined ? own : union(own, before.fields)
  return managedFrom([...kept.values(), { ...by, fields, time }])
}
