import { Work } from '../json/json.ts'
import { type Conflict, ConflictError } from './conflict.ts'
import { equals, isMembers, type Members } from './fieldpath/fieldpath.ts'
import { intersection, isEmpty, noFields, sharing } from './fieldpath/fieldset.ts'
import { identityOf, type Managed, type ManagedEntry, type Manager, managedFrom } from './managed.ts'
import { prune } from './prune.ts'
import { mergeSteps } from './typed/merge.ts'
import { fieldSetSteps } from './typed/tofieldset.ts'
import type { MergeType } from './typed/types.ts'
import {
  type Difference,
  type Differences,
  differencesOf,
  type Filter,
  keeping,
  ownable,
  reconciled,
  type VersionTypes,
} from './update.ts'

/** A server-side apply of a configuration that fits `type`. */
export interface ConfigurationApply {
  readonly live: Members
  readonly config: Members
  readonly type: MergeType
  readonly versions: VersionTypes
  readonly filter: Filter
  readonly by: Manager
  /** Takes fields from other managers instead of failing with a conflict. */
  readonly force: boolean
}

export interface Applied {
  /** undefined: the object does not change. */
  readonly object: Members | undefined
  readonly managed: Managed
}

/**
 * Merges a configuration into the live object and removes the fields that the manager no longer applies
 * (`merge.Updater.Apply` of structured-merge-diff; rules.md 5.50). Throws a `ConflictError` for fields that other
 * managers own with other values, a `TypedError` for values that do not fit the schema. Yields between steps that take
 * long for objects with many fields.
 */
export function* apply(managed: Managed, request: ConfigurationApply): Generator<void, Applied> {
  const { live, config, type, versions, filter, by } = request
  const identity = identityOf(by)
  const known = reconciled(managed, versions)
  const last = known.get(identity)
  const applied = yield* fieldSetSteps(type, config)
  yield
  const fields = sharing(filter(applied), last?.fields ?? noFields)
  const own: ManagedEntry = { ...timeOf(last), ...by, fields }
  const entries = new Map(known).set(identity, own)
  yield
  const merged = yield* mergeSteps(type, live, config, new Work())
  yield
  const next = prune({ merged, managed: entries, versions }, last)
  const object = isMembers(next) ? next : {}
  yield
  const others = [...entries.values()].filter(entry => identityOf(entry) !== identity)
  const differenceAt = yield* differencesOf({ live, next: object, versions, filter }, others)
  const kept = request.force ? others : unconflicted(others, differenceAt)
  yield
  return {
    object: equals(live, object) ? undefined : object,
    managed: managedFrom([
      ...kept.flatMap(entry => left(entry, differenceAt)),
      { ...own, fields: ownable(own.fields) },
    ]),
  }
}

const timeOf = (entry: ManagedEntry | undefined): Pick<ManagedEntry, 'time'> =>
  entry?.time === undefined ? {} : { time: entry.time }

function left(entry: ManagedEntry, differenceAt: Differences): readonly ManagedEntry[] {
  const changed = differenceAt(entry.apiVersion)
  return changed === undefined ? [] : [{ ...entry, fields: keeping(entry, changed) }]
}

function unconflicted(others: readonly ManagedEntry[], differenceAt: Differences): readonly ManagedEntry[] {
  const conflicts = [...others]
    .sort((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1))
    .flatMap(entry => conflictsWith(entry, differenceAt(entry.apiVersion)))
  if (conflicts.length > 0) throw new ConflictError(conflicts)
  return others
}

function conflictsWith(manager: ManagedEntry, changed: Difference | undefined): readonly Conflict[] {
  if (changed === undefined) return []
  const fields = intersection(manager.fields, changed.set)
  return isEmpty(fields) ? [] : [{ manager, fields }]
}
