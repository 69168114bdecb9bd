import { atOnce, merged, type Steps, Work } from '../json/json.ts'
import { untrackedFields } from '../meta/objectmeta.ts'
import { fieldOf, type PathElement } from './fieldpath/fieldpath.ts'
import {
  difference,
  differenceSteps,
  type FieldSet,
  isEmpty,
  newSet,
  type SetSteps,
  setOfFields,
  unionOf,
  unionSteps,
} from './fieldpath/fieldset.ts'
import { byAge, identityOf, type Managed, type ManagedEntry, type Manager, managedFrom } from './managed.ts'
import { type ConvertObject, inVersion, type VersionTypes } from './otherversion.ts'
import { type Comparison, comparisonSteps } from './typed/compare.ts'
import type { MapType, MergeType } from './typed/types.ts'

/** `stripMeta` of `apimachinery/pkg/util/managedfields/internal`; `clusterName` was a field of ObjectMeta. */
const untracked = setOfFields(
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[...untrackedFields, 'clusterName'].map(name => ['metadata', name]),
)

export const ownable = (fields: FieldSet): FieldSet => difference(fields, untracked)

/** The entries adapted to the current schemas; entries of versions that no longer exist are dropped. In steps. */
export function* reconciled(managed: Managed, versions: VersionTypes): Generator<void, Managed> {
  const work = new Work()
  const entries: ManagedEntry[] = []
  for (const entry of managed.values()) {
    const type = versions(entry.apiVersion)
    if (type === undefined) continue
    entries.push({ ...entry, fields: yield* reconcileSteps(entry.fields, type, work) })
  }
  return managedFrom(entries)
}

/** What is left of the entries after the change of another manager. In steps. */
export function* leftOf(
  entries: readonly ManagedEntry[],
  differenceAt: Differences,
): Generator<void, readonly ManagedEntry[]> {
  const work = new Work()
  const left: ManagedEntry[] = []
  for (const entry of entries) {
    const changed = differenceAt(entry.apiVersion)
    if (changed === undefined) continue
    const fields = yield* differenceSteps(entry.fields, changed.set, work)
    left.push({ ...entry, fields: yield* differenceSteps(fields, changed.removed, work) })
  }
  return left
}

/**
 * The managedFields after an update (`merge.Updater.Update`; rules.md 5.49): the manager owns the fields that it has
 * changed, other fields keep their owners. `time` is that of the update. In steps.
 */
export function* updateManaged(
  managed: Managed,
  change: ObjectChange,
  by: Manager,
  time: string,
): Steps<Managed> {
  const known = [...(yield* reconciled(managed, change.versions)).values()]
  const differenceAt = yield* differencesOf(change, [by, ...known])
  const kept = managedFrom(yield* leftOf(known, differenceAt))
  const own = ownable(differenceAt(by.apiVersion)?.set ?? setOfFields())
  if (isEmpty(own)) return kept
  const before = kept.get(identityOf(by))
  const fields = before === undefined ? own : yield* unionSteps(own, before.fields, new Work())
  return managedFrom([...kept.values(), merged(by, { fields, time })])
}

/** Removes the fields that an endpoint must not write. */
export type Filter = (fields: FieldSet) => FieldSet

/** Two states of an object. */
export interface ObjectChange {
  readonly live: unknown
  readonly next: unknown
  readonly versions: VersionTypes
  /** undefined: fields have the same names in all versions. */
  readonly convert: ConvertObject | undefined
  readonly filter: Filter
}

/** The changed fields, as named in one version. */
export interface Difference {
  readonly removed: FieldSet
  /** Modified or added. */
  readonly set: FieldSet
}

/** The differences of a change by apiVersion; undefined: the version does not exist. */
export type Differences = (apiVersion: string) => Difference | undefined

/** The differences of a change in the versions of some managers, each computed once. In steps. */
export function* differencesOf(
  { live, next, versions, convert, filter }: ObjectChange,
  managers: Iterable<Pick<Manager, 'apiVersion'>>,
): Steps<Differences> {
  const known = new Map<unknown, Difference>()
  const keyOf = (apiVersion: string) => (convert === undefined ? versions(apiVersion) : apiVersion)
  for (const { apiVersion } of managers) {
    const [type, key] = [versions(apiVersion), keyOf(apiVersion)]
    if (type === undefined || known.has(key)) continue
    const before = convert === undefined ? live : yield* inVersion(live, apiVersion, convert)
    const after = convert === undefined ? next : yield* inVersion(next, apiVersion, convert)
    const comparison = yield* comparisonSteps(type, before, after)
    known.set(key, yield* filtered(comparison, filter))
  }
  return apiVersion => known.get(keyOf(apiVersion))
}

function* filtered({ removed, modified, added }: Comparison, filter: Filter): Generator<void, Difference> {
  const set = yield* unionSteps(modified, added, new Work())
  return { removed: filter(removed), set: filter(set) }
}

const maxUpdaters = 10
const ancient = 'ancient-changes'

const isUpdate = ({ operation }: ManagedEntry): boolean => operation === 'Update'

/**
 * Keeps at most ten entries of updates: the oldest are merged, for each version, into an entry of the manager
 * `ancient-changes` (`capmanagers.go`; rules.md 5.28). In steps.
 */
export function* capUpdaters(managed: Managed): Generator<void, Managed> {
  const updaters = [...managed.values()].filter(isUpdate)
  if (updaters.length <= maxUpdaters) return managed
  const kept = new Map(managed)
  const merged = new Map<string, [ManagedEntry, ...ManagedEntry[]]>()
  let count = updaters.length
  for (const entry of byAge(updaters)) {
    if (count <= maxUpdaters) break
    const known = merged.get(entry.apiVersion)
    if (known === undefined) merged.set(entry.apiVersion, [entry])
    else {
      known.push(entry)
      count--
    }
  }
  for (const entries of merged.values()) yield* bury(kept, entries)
  return kept
}

/** Merges entries into the bucket of their version; the first entry of a version becomes the bucket. */
function* bury(
  kept: Map<string, ManagedEntry>,
  [first, ...others]: readonly [ManagedEntry, ...ManagedEntry[]],
): Generator<void> {
  const last = others.at(-1)
  if (last === undefined) return
  const bucket: ManagedEntry = { ...last, manager: ancient, subresource: '' }
  const key = identityOf(bucket)
  const before = kept.get(key)
  const sets = [...others, before ?? first].map(entry => entry.fields)
  const fields = yield* unionOf(sets, new Work())
  if (before === undefined) kept.delete(identityOf(first))
  for (const entry of others) kept.delete(identityOf(entry))
  kept.set(key, { ...bucket, fields })
}

/**
 * Adapts a set to a changed schema: a field that has become atomic is owned as a whole. Returns the same set if nothing
 * changes (`typed.ReconcileFieldSetWithSchema`; rules.md 5.49).
 */
export const reconcile = (set: FieldSet, type: MergeType): FieldSet =>
  atOnce(reconcileSteps(set, type, new Work()))

function memberType(type: MergeType, element: PathElement): MergeType | undefined {
  if (type.map) return type.map.isFree ? undefined : mapMember(type.map, element)
  return type.scalar ? undefined : type.list?.item
}

function mapMember(map: MapType, element: PathElement): MergeType | undefined {
  const name = fieldOf(element)
  return name === undefined ? undefined : map.member(name)
}

function* reconcileSteps(set: FieldSet, type: MergeType, work: Work): SetSteps {
  const whole: PathElement[] = []
  const changed: (readonly [PathElement, FieldSet])[] = []
  for (const [element, child] of set.children) {
    if (work.isStepDone()) yield
    const below = memberType(type, element)
    if (below === undefined) continue
    if (isWhole(below)) whole.push(element)
    else {
      const next = yield* reconcileSteps(child, below, work)
      if (next !== child) changed.push([element, next])
    }
  }
  if (whole.length === 0 && changed.length === 0) return set
  const children = new Map([...set.children, ...changed])
  for (const element of whole) children.delete(element)
  return newSet(new Set([...set.members, ...whole]), nonEmpty(children))
}

/** The type is atomic now: the fields below it become the field itself. */
function isWhole({ map, scalar, list }: MergeType): boolean {
  if (map) return !map.isFree && map.isAtomic
  return !scalar && list?.isAtomic === true
}

const nonEmpty = (children: ReadonlyMap<PathElement, FieldSet>): ReadonlyMap<PathElement, FieldSet> =>
  new Map([...children].filter(([, child]) => !isEmpty(child)))
