import { merged, type Steps } from '../json/json.ts'
import { badRequest, StatusError } from '../meta/errors.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import { type Json, type KubeObject, type Metadata, printKind } from '../meta/object.ts'
import { type Applied, apply, type ConfigurationApply } from './apply.ts'
import { ConflictError, conflictStatus } from './conflict.ts'
import { isMembers, type Members } from './fieldpath/fieldpath.ts'
import { checkLastApplied, kubectl, withLastApplied } from './lastapplied.ts'
import { formatManagedSteps, identityOf, type Managed, type Manager, parseManagedSteps } from './managed.ts'
import { ConversionError, type ConvertObject, type VersionTypes } from './otherversion.ts'
import { type MergeType, TypedError } from './typed/types.ts'
import { validationSteps } from './typed/validate.ts'
import { capUpdaters, type Filter, type ObjectChange, updateManaged } from './update.ts'

/** The properties of an endpoint that field management needs. */
export interface ManagedEndpoint {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for the object itself. */
  readonly subresource: string
  readonly type: MergeType
  readonly versions: VersionTypes
  /** undefined: fields have the same names in all versions. */
  readonly convert?: ConvertObject
  readonly filter: Filter
  /** A new object before any field is set. */
  readonly zero: KubeObject
}

/** The manager of a write, and its time. */
export interface Writer {
  readonly manager: string
  /** RFC 3339, whole seconds. */
  readonly time: string
}

export interface Applier extends Writer {
  /** Takes fields from other managers. */
  readonly force: boolean
}

const noEntries: Managed = new Map()

const managerOf = (
  { apiVersion, subresource }: ManagedEndpoint,
  operation: Manager['operation'],
  manager: string,
): Manager => ({
  manager: manager === '' ? 'unknown' : manager,
  operation,
  apiVersion,
  subresource,
})

function withoutManaged(object: KubeObject): KubeObject {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function* withManaged(object: KubeObject, managed: Managed): Generator<void, KubeObject> {
  const { managedFields: _, ...metadata } = object.metadata
  if (managed.size === 0) return { ...object, metadata }
  const managedFields = (yield* formatManagedSteps(managed)) as readonly Json[]
  return { ...object, metadata: merged(metadata, { managedFields }) }
}

/**
 * Updates `metadata.managedFields` of an object that was created (`live` absent) or updated
 * (`fieldmanager.UpdateNoErrors`; rules.md 5.24, 5.27, 5.49). Never throws: an object with list items that have no
 * unique keys, or without the versions of its managers, is no longer tracked. In steps.
 */
export function* trackUpdate(
  endpoint: ManagedEndpoint,
  writer: Writer,
  next: KubeObject,
  live?: KubeObject,
): Steps<KubeObject> {
  const managed = yield* startingPoint(endpoint, next, live)
  yield
  if (managed.size === 0 && live !== undefined) return withoutManaged(next)
  const change = changeOf(endpoint, live ?? endpoint.zero, next)
  try {
    const entries = yield* tracked(endpoint, managed, change, writer)
    yield
    return yield* withManaged(next, entries)
  } catch (error) {
    if (error instanceof TypedError || error instanceof ConversionError) return withoutManaged(next)
    throw error
  }
}

const changeOf = (
  { versions, convert, filter, zero }: ManagedEndpoint,
  live: KubeObject,
  next: KubeObject,
): ObjectChange => ({
  live: withStructs(zero, withoutManaged(live)),
  next: withStructs(zero, withoutManaged(next)),
  versions,
  convert,
  filter,
})

/** The object with the structs that Go always writes: no manager owns them. */
function withStructs<T extends Members>(zero: Members, object: T): T {
  const missing = Object.entries(zero).flatMap(([key, struct]) => {
    const value = object[key]
    if (!isMembers(struct)) return []
    const filled = value === undefined ? struct : isMembers(value) ? withStructs(struct, value) : value
    return filled === value ? [] : [[key, filled]]
  })
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) }
}

function* tracked(
  endpoint: ManagedEndpoint,
  managed: Managed,
  change: ObjectChange,
  { manager, time }: Writer,
): Steps<Managed> {
  const by = managerOf(endpoint, 'Update', manager)
  return yield* capUpdaters(yield* updateManaged(managed, change, by, time))
}

/** The entries that an update starts from: those of the request if they are valid, else those of the live object. */
function* startingPoint(
  { subresource }: ManagedEndpoint,
  next: KubeObject,
  live: KubeObject | undefined,
): Generator<void, Managed> {
  const sent = subresource === '' ? next.metadata.managedFields : undefined
  if (sent !== undefined && isReset(sent)) return noEntries
  const parsed = yield* parseManagedSteps(sent ?? [])
  if (parsed !== undefined && parsed.size > 0) return parsed
  return yield* managedIn(live)
}

function* managedIn(object: KubeObject | undefined): Generator<void, Managed> {
  return (yield* parseManagedSteps(object?.metadata.managedFields ?? [])) ?? noEntries
}

/** `[]` and `[{}]` clear the list (rules.md 5.24). */
const isReset = (sent: readonly unknown[]): boolean =>
  sent.length === 0 || (sent.length === 1 && isMembers(sent[0]) && Object.keys(sent[0]).length === 0)

/**
 * The live object with the configuration applied, before pruning and defaulting (`fieldmanager.Apply`; rules.md 5.50).
 * Throws 400 for another kind and for `metadata.managedFields`, 409 for conflicts, 500 for values that do not fit the
 * schema or cannot be converted. Yields between steps that take long for objects with many fields.
 */
export function* applyConfiguration(
  endpoint: ManagedEndpoint,
  writer: Applier,
  config: Members,
  live: KubeObject | undefined,
): Steps<KubeObject> {
  yield* checkConfiguration(endpoint, config)
  yield
  const request = applyRequestOf(endpoint, writer, config, live ?? endpoint.zero)
  const { object, managed } = yield* refusingAsStatus(yield* startOfApply(endpoint, writer, live), request)
  yield
  const result = (object ?? request.live) as KubeObject
  const timed = object === undefined ? managed : withTime(managed, request.by, writer.time)
  const final = yield* withManaged({ ...result, metadata: result.metadata ?? {} }, timed)
  yield
  return writer.manager === kubectl ? yield* withLastApplied(final, config) : final
}

const applyRequestOf = (
  endpoint: ManagedEndpoint,
  { manager, force }: Applier,
  config: Members,
  live: KubeObject,
): ConfigurationApply => ({
  live: withoutManaged(live),
  config,
  type: endpoint.type,
  versions: endpoint.versions,
  convert: endpoint.convert,
  filter: endpoint.filter,
  by: managerOf(endpoint, 'Apply', manager),
  force,
})

function* checkConfiguration({ apiVersion, kind, type }: ManagedEndpoint, config: Members): Generator<void> {
  const sent = { apiVersion: textOf(config.apiVersion), kind: textOf(config.kind) }
  if (sent.apiVersion !== apiVersion || sent.kind !== kind)
    throw badRequest(`invalid object type: ${printKind(sent)}`)
  const { metadata } = config
  if (isMembers(metadata) && (metadata.managedFields ?? null) !== null)
    throw badRequest('metadata.managedFields must be nil')
  try {
    yield* validationSteps(type, config)
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    const { name = '', namespace = '' } = (isMembers(metadata) ? metadata : {}) as Metadata
    const about = `${namespace}/${name}; ${printKind(sent)}`
    throw new StatusError(500, '', `failed to create typed patch object (${about}): ${error.message}`)
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The first apply assigns the existing fields to the manager `before-first-apply` (`skipnonapplied.go`). */
function* startOfApply(
  endpoint: ManagedEndpoint,
  { time }: Writer,
  live: KubeObject | undefined,
): Steps<Managed> {
  const managed = yield* managedIn(live)
  if (managed.size > 0 || live === undefined) return managed
  const change = changeOf(endpoint, endpoint.zero, live)
  return yield* tracked(endpoint, managed, change, { manager: 'before-first-apply', time })
}

/** kubectl takes over the fields of its client-side applies (rules.md 5.55). */
function* applied(managed: Managed, request: ConfigurationApply): Steps<Applied> {
  try {
    return yield* apply(managed, request)
  } catch (error) {
    if (!(error instanceof ConflictError) || request.by.manager !== kubectl) throw error
    yield* checkLastApplied(error, request.live, request.type)
  }
  return yield* apply(managed, { ...request, force: true })
}

function* refusingAsStatus(managed: Managed, request: ConfigurationApply): Steps<Applied> {
  try {
    return yield* applied(managed, request)
  } catch (error) {
    if (error instanceof ConflictError) throw yield* conflictStatus(error.conflicts)
    if (error instanceof TypedError) throw new StatusError(500, '', error.message)
    if (error instanceof ConversionError) throw error.reason
    throw error
  }
}

function withTime(managed: Managed, by: Manager, time: string): Managed {
  const identity = identityOf(by)
  const entry = managed.get(identity)
  return entry === undefined ? managed : new Map(managed).set(identity, { ...entry, time })
}

/**
 * A new object of a built-in kind: its empty structs, and the lists that Go writes as null. Structs are fields whose
 * default is an empty object.
 */
export function zeroValue(schema: MergeSchema): Members {
  const zeros: Record<string, unknown> = {}
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (property.nullable === true) zeros[key] = null
    else if (isHollow(property.default)) zeros[key] = zeroValue(property)
  }
  return zeros
}

const isHollow = (value: unknown): boolean => isMembers(value) && Object.keys(value).length === 0
