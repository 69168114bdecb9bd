import { type About, methodNotSupported, notFound, notServed } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Incoming } from '../request/incoming.ts'
import type { Params } from '../request/path.ts'
import type { Verb } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import type { RequestContext } from './context.ts'
import type { ObjectSchema, TableColumn } from './schema.ts'
import type { ResourceStorage } from './storage.ts'
import type { Forwarding } from './upstream.ts'

/** The names of a kind, as a CRD's `spec.names`. */
export interface ResourceNames {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** Paths of fields, by the subresource that does not write them; '' is the object itself. */
export type ResetFields = Readonly<Record<string, readonly (readonly string[])[]>>

/** `status`, `scale`, `token`, …: what is below an object's name. */
export interface Subresource<P extends Params = Params> {
  readonly name: string
  /** Differs from the parent for scale (`autoscaling/v1 Scale`) and token (`authentication.k8s.io/v1 TokenRequest`). */
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage<P>
  readonly schema: ObjectSchema
  /** Answers itself, instead of reading and writing through `storage`: `proxy`, whose requests go to another server. */
  readonly connect?: (ctx: RequestContext<P>, request: ConnectRequest) => Promise<Answer | Forwarding>
}

/** A request to a subresource that answers itself. */
export interface ConnectRequest {
  readonly incoming: Incoming
  /** What follows the subresource's name, percent-encoded; '' or starting with `/`. */
  readonly rest: string
}

/**
 * One resource in one version, with everything a request needs precomputed. Routing, discovery and OpenAPI read the
 * same data: what `verbs` does not name is 405.
 */
export interface ApiResource<P extends Params = Params> {
  readonly group: string
  readonly version: string
  readonly names: ResourceNames
  readonly namespaced: boolean
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage<P>
  readonly schema: ObjectSchema
  /** Printer columns after `Name`. */
  readonly columns: readonly TableColumn[]
  readonly subresources: readonly Subresource<P>[]
  /** For discovery: base64 of 8 bytes (chapter 40, rule 8.4). */
  readonly storageVersionHash?: string
  /** Custom resources keep kind and apiVersion on list items and refuse strategic merge patch (chapter 40, 4.2, 5.1). */
  readonly custom: boolean
  /** PUT without resourceVersion: last write wins, else 422 (chapter 40, rule 3.22). */
  readonly unconditionalUpdate: boolean
  /** PUT of a missing object creates it (chapter 40, rule 3.23). */
  readonly createOnUpdate: boolean
  /** Fills in what no schema can say, such as a label with the object's own name; run after decoding. */
  readonly complete?: (object: KubeObject) => KubeObject
  /** DELETE answers with the object instead of a Status (chapter 40, rule 6.6). */
  readonly deleteReturnsObject?: boolean
  /** What an endpoint leaves as it is, where that is not what it is for custom resources (chapter 40, rule 5.51 k). */
  readonly resetFields?: ResetFields
  /** Field selectors besides metadata.name and metadata.namespace: field → value as a string, '' when absent. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>
  /** Sent as a warning with every request to a deprecated version (chapter 40, rule 7.44). */
  readonly deprecationWarning?: string
  /** The OpenAPI v3 schema that is published for this kind, unresolved; read by the OpenAPI documents only. */
  readonly openapi: Readonly<Record<string, unknown>>
}

/**
 * What one endpoint serves. Immutable and shared: the same object until something changes, so that discovery and
 * OpenAPI documents can be kept in a WeakMap by ApiSet.
 */
export interface ApiSet<P extends Params = Params> {
  /** Sorted by group, then version in Kubernetes' order, then plural. */
  readonly resources: readonly ApiResource<P>[]
  find(group: string, version: string, plural: string): ApiResource<P> | undefined
  /** Resources of which nothing but metadata may be read, in any version. */
  findMetadata?(group: string, version: string, plural: string): ApiResource<P> | undefined
  /** Discovery is not aggregated: clients of kcp compare what they then see, entry by entry. */
  readonly unaggregated?: true
  /** The backend serves more than is known here: its discovery and its documents are whole. */
  readonly isPartial?: true
  /** Aborted when this set is replaced: watches on resources that are gone or changed end cleanly. */
  readonly replaced?: AbortSignal
}

/** An ApiSet of these resources, sorted, with a constant-time `find`. */
export function apiSetOf<P extends Params>(
  resources: readonly ApiResource<P>[],
  replaced?: AbortSignal,
): ApiSet<P> {
  const byKey = new Map(resources.map(r => [`${r.group}/${r.version}/${r.names.plural}`, r]))
  const sorted = [...resources].sort(
    (a, b) =>
      compare(a.group, b.group) ||
      compareVersions(a.version, b.version) ||
      compare(a.names.plural, b.names.plural),
  )
  return {
    resources: sorted,
    find: (group, version, plural) => byKey.get(`${group}/${version}/${plural}`),
    ...(replaced && { replaced }),
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const stages = { alpha: 1, beta: 2, '': 3 } as const

/** Kubernetes' order, most preferred first: GA, beta, alpha; higher numbers first; others by name (chapter 40, rule 8.5). */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [rankOf(a), rankOf(b)]
  if (x === undefined || y === undefined)
    return Number(x === undefined) - Number(y === undefined) || compare(a, b)
  return y.stage - x.stage || y.major - x.major || y.minor - x.minor
}

function rankOf(version: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version)
  if (match === null) return undefined
  const stage = (match[2] ?? '') as keyof typeof stages
  return { stage: stages[stage], major: Number(match[1]), minor: Number(match[3] ?? 0) }
}

/** What one request addresses: a resource or one of its subresources, with the same members for both. */
export interface Served {
  readonly resource: ApiResource
  /** '' for the resource itself. */
  readonly subresource: string
  /** Of the objects that are sent and received; differs from the resource's for `scale` and `token`. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage
  readonly schema: ObjectSchema
}

const itself = new WeakMap<ApiResource, Served>()

/** Finds what is addressed; throws 404 for a subresource that there is not. */
export function servedBy(resource: ApiResource, subresource: string, name: string): Served {
  const known = subresource === '' ? itself.get(resource) : undefined
  if (known !== undefined) return known
  const served = findServed(resource, subresource, name)
  if (subresource === '') itself.set(resource, served)
  return served
}

function findServed(resource: ApiResource, subresource: string, name: string): Served {
  const { group, version, names, verbs, storage, schema } = resource
  const own = { resource, group, version, kind: names.kind, verbs, storage, schema, subresource }
  if (subresource === '') return own
  const found = resource.subresources.find(each => each.name === subresource)
  if (found === undefined)
    throw resource.custom ? notFound({ group, resource: names.plural, name }) : notServed()
  return {
    ...own,
    group: found.group ?? group,
    version: found.version ?? version,
    kind: found.kind,
    verbs: found.verbs,
    storage: found.storage,
    schema: found.schema,
  }
}

/** What errors about the resource say. */
export const aboutOf = ({ resource }: Served, name = ''): About => ({
  group: resource.group,
  resource: resource.names.plural,
  name,
})

/** Throws 405 for a verb that is not served. */
export function requireVerb(served: Served, verb: Verb): void {
  if (!served.verbs.includes(verb)) throw methodNotSupported(aboutOf(served), verb)
}
