import { compareTexts, Work } from '../json/json.ts'
import { sameJsonSteps } from '../json/same.ts'
import type { Json, KubeObject } from '../meta/object.ts'
import { isMembers } from './fieldpath/fieldpath.ts'
import { type FieldSet, type FieldsV1, formatSteps, isEmpty } from './fieldpath/fieldset.ts'
import { parseSteps } from './fieldpath/parsefields.ts'

/** The identity of an entry of `metadata.managedFields` (rules.md 5.18). */
export interface Manager {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  /** The version in which the fields are named. */
  readonly apiVersion: string
  /** Empty for the object itself. */
  readonly subresource: string
}

export interface ManagedEntry extends Manager {
  readonly fields: FieldSet
  /** RFC 3339, whole seconds; absent if unknown. */
  readonly time?: string
}

/** Entries by `identityOf` their manager. */
export type Managed = ReadonlyMap<string, ManagedEntry>

/**
 * An applier has one entry, whose version changes; an updater has one per version. The order of the strings is the
 * order of Go.
 */
export const identityOf = ({ manager, operation, apiVersion, subresource }: Manager): string =>
  `{${manager === '' ? '' : `"manager":${JSON.stringify(manager)},`}"operation":"${operation}"${
    operation === 'Apply' ? '' : `,"apiVersion":${JSON.stringify(apiVersion)}`
  }${subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`}}`

/** Drops entries without fields. */
export const managedFrom = (entries: Iterable<ManagedEntry>): Managed =>
  new Map([...entries].filter(({ fields }) => !isEmpty(fields)).map(entry => [identityOf(entry), entry]))

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Decodes `metadata.managedFields`; undefined if an entry is invalid (rules.md 3.18). In steps. */
export function* parseManagedSteps(value: readonly unknown[]): Generator<void, Managed | undefined> {
  const entries = yield* readEntries(value)
  return typeof entries === 'string' ? undefined : new Map(entries.map(entry => [identityOf(entry), entry]))
}

/** The problem of invalid `metadata.managedFields`; undefined for valid ones. */
function* managedProblem(value: readonly unknown[]): Generator<void, string | undefined> {
  const entries = yield* readEntries(value)
  return typeof entries === 'string' ? entries : undefined
}

function* readEntries(value: readonly unknown[]): Generator<void, readonly ManagedEntry[] | string> {
  const work = new Work()
  const entries: ManagedEntry[] = []
  try {
    for (const [index, entry] of value.entries()) entries.push(yield* parseEntry(entry, index, work))
    return entries
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}

function* parseEntry(value: unknown, index: number, work: Work): Generator<void, ManagedEntry> {
  if (!isMembers(value)) throw new SyntaxError('an entry must be an object')
  const { manager, operation, apiVersion, subresource, time, fieldsType, fieldsV1 = {} } = value
  if (operation !== 'Apply' && operation !== 'Update')
    throw new SyntaxError('operation must be `Apply` or `Update`')
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw new SyntaxError('apiVersion must not be empty')
  if (text(fieldsType) === '') throw new SyntaxError(`missing fieldsType in managed fields entry ${index}`)
  if (fieldsType !== 'FieldsV1')
    throw new SyntaxError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`)
  return {
    manager: text(manager),
    operation,
    apiVersion,
    subresource: text(subresource),
    fields: yield* parseSteps(fieldsV1, work),
    ...(typeof time === 'string' ? { time } : {}),
  }
}

const seconds = ({ time }: ManagedEntry): number =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1000)

/** The order of `sortEncodedManagedFields` (rules.md 5.20). */
const compareEntries = (a: ManagedEntry, b: ManagedEntry): number =>
  compareTexts(a.operation, b.operation) ||
  seconds(a) - seconds(b) ||
  compareTexts(a.manager, b.manager) ||
  compareTexts(a.apiVersion, b.apiVersion) ||
  compareTexts(a.subresource, b.subresource)

/** The oldest entry first, then by identity. */
export const byAge = (entries: readonly ManagedEntry[]): readonly ManagedEntry[] =>
  entries
    .map(entry => ({ entry, age: seconds(entry), identity: identityOf(entry) }))
    .sort((a, b) => a.age - b.age || compareTexts(a.identity, b.identity))
    .map(({ entry }) => entry)

/** Encodes `metadata.managedFields`, in steps. */
export function* formatManagedSteps(managed: Managed): Generator<void, readonly object[]> {
  const work = new Work()
  const written: object[] = []
  for (const entry of [...managed.values()].sort(compareEntries))
    written.push(formatEntry(entry, yield* formatSteps(entry.fields, work)))
  return written
}

const formatEntry = ({ time, subresource, ...entry }: ManagedEntry, fieldsV1: FieldsV1): object => ({
  manager: entry.manager,
  operation: entry.operation,
  apiVersion: entry.apiVersion,
  ...(time === undefined ? {} : { time }),
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...(subresource === '' ? {} : { subresource }),
})

/**
 * The object after mutating admission, with the managedFields of before where admission has made them invalid
 * (`NewManagedFieldsValidatingAdmissionController` of `k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager`; rules.md 5.59).
 * In steps.
 */
export function* withValidManagedFields(
  object: KubeObject,
  before: KubeObject,
  warn: (warning: string) => void,
): Generator<void, KubeObject> {
  const { managedFields, ...metadata } = object.metadata
  const known = before.metadata.managedFields
  if (managedFields === known || managedFields === undefined) return object
  const problem = yield* managedProblem(managedFields)
  if (problem === undefined) return object
  warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  )
  return { ...object, metadata: known === undefined ? metadata : { ...metadata, managedFields: known } }
}

/**
 * The object with the times of the old managedFields if these do not differ otherwise: a write that changes nothing is
 * not stored (rules.md 3.27, 5.61). In steps.
 */
export function* withTimesOf(object: KubeObject, old: KubeObject): Generator<void, KubeObject> {
  const [now, before] = [object.metadata.managedFields, old.metadata.managedFields]
  if (now === undefined || before === undefined || now === before) return object
  if (!(yield* sameJsonSteps(timeless(now), timeless(before), new Work()))) return object
  return { ...object, metadata: { ...object.metadata, managedFields: before } }
}

const timeless = (entries: readonly Json[]): readonly unknown[] =>
  entries.map(entry => (isMembers(entry) ? { ...entry, time: undefined } : entry))
