import { type Steps, Work } from '../json/json.ts'
import { type Conflict, ConflictError } from './conflict.ts'
import { intersectionSteps, sharingSteps } from './fieldpath/common.ts'
import { equalSteps, isMembers, type Members } from './fieldpath/fieldpath.ts'
import { isEmpty, noFields } from './fieldpath/fieldset.ts'
import { identityOf, type Managed, type ManagedEntry, type Manager, managedFrom } from './managed.ts'
import type { ConvertObject, VersionTypes } from './otherversion.ts'
import { prune } from './prune.ts'
import { mergeSteps } from './typed/merge.ts'
import { fieldSetSteps } from './typed/tofieldset.ts'
import type { MergeType } from './typed/types.ts'
import { type Differences, differencesOf, type Filter, leftOf, ownable, reconciled } from './update.ts'

/** A server-side apply of a configuration that fits `type`. */
export interface ConfigurationApply {
  readonly live: Members
  readonly config: Members
  readonly type: MergeType
  readonly versions: VersionTypes
  readonly convert: ConvertObject | undefined
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
export function* apply(managed: Managed, request: ConfigurationApply): Steps<Applied> {
  const { live, config, type, versions, convert, filter, by } = request
  const identity = identityOf(by)
  const work = new Work()
  const known = yield* reconciled(managed, versions)
  const last = known.get(identity)
  const applied = filter(yield* fieldSetSteps(type, config, work))
  const fields = yield* sharingSteps(applied, last?.fields ?? noFields, work)
  const own: ManagedEntry = { ...timeOf(last), ...by, fields }
  const entries = new Map(known).set(identity, own)
  yield
  const merged = yield* mergeSteps(type, live, config, work)
  yield
  const next = yield* prune({ merged, managed: entries, versions, convert, work }, last)
  const object = isMembers(next) ? next : {}
  yield
  const others = [...entries.values()].filter(entry => identityOf(entry) !== identity)
  const differenceAt = yield* differencesOf({ live, next: object, versions, convert, filter }, others)
  if (!request.force) yield* refuseConflicts(others, differenceAt)
  const left = yield* leftOf(others, differenceAt)
  yield
  return {
    object: (yield* equalSteps(live, object, work)) ? undefined : object,
    managed: managedFrom([...left, { ...own, fields: ownable(own.fields) }]),
  }
}

const timeOf = (entry: ManagedEntry | undefined): Pick<ManagedEntry, 'time'> =>
  entry?.time === undefined ? {} : { time: entry.time }

/** Throws a `ConflictError` if other managers own changed fields. */
function* refuseConflicts(others: readonly ManagedEntry[], differenceAt: Differences): Generator<void> {
  const work = new Work()
  const conflicts: Conflict[] = []
  for (const manager of [...others].sort(byIdentity)) {
    const changed = differenceAt(manager.apiVersion)
    if (changed === undefined) continue
    const fields = yield* intersectionSteps(manager.fields, changed.set, work)
    if (!isEmpty(fields)) conflicts.push({ manager, fields })
  }
  if (conflicts.length > 0) throw new ConflictError(conflicts)
}

const byIdentity = (a: ManagedEntry, b: ManagedEntry): number => (identityOf(a) < identityOf(b) ? -1 : 1)
