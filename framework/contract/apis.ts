import { type About, methodNotSupported, notFound, notServed } from '../meta/errors.ts'
import { type GroupVersionResource, groupIn, type KubeObject, versionIn } from '../meta/object.ts'
import type { Incoming } from '../request/incoming.ts'
import type { Params } from '../request/path.ts'
import type { Verb } from '../request/requestinfo.ts'
import type { Answer } from '../request/response.ts'
import type { RequestContext } from './context.ts'
import type { ObjectSchema, TableColumn } from './schema.ts'
import type { ResourceStorage } from './storage.ts'
import type { Forwarding } from './upstream.ts'

/** The names of a resource, as in `spec.names` of a CustomResourceDefinition. */
export interface ResourceNames {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** The paths of the fields that an endpoint does not write, by subresource; '' is the main resource. */
export type ResetFields = Readonly<Record<string, readonly (readonly string[])[]>>

/** A subresource, such as `status`, `scale` or `token`. */
export interface Subresource<P extends Params = Params> {
  readonly name: string
  /** Differs from the parent for scale (`autoscaling/v1 Scale`) and token (`authentication.k8s.io/v1 TokenRequest`). */
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage<P>
  readonly schema: ObjectSchema
  /** Handles the requests instead of the verbs and `storage`, for subresources such as `proxy`. */
  readonly connect?: (ctx: RequestContext<P>, request: ConnectRequest) => Promise<Answer | Forwarding>
}

/** A request to a subresource with `connect`. */
export interface ConnectRequest {
  readonly incoming: Incoming
  /** The path after the subresource's name, percent-encoded; '' or starting with `/`. */
  readonly rest: string
}

/**
 * One resource in one version. Routing, discovery and OpenAPI read the same data. Verbs that `verbs` does not list are
 * answered with 405. A view usually takes a resource of `backend.apis()` and changes members of it:
 *
 * ```ts
 * const secrets = backend.apis('*')?.find('', 'v1', 'secrets')
 * const readable = secrets && { ...secrets, verbs: ['get', 'list', 'watch'] }
 * ```
 */
export interface ApiResource<P extends Params = Params> {
  readonly group: string
  readonly version: string
  readonly names: ResourceNames
  readonly namespaced: boolean
  readonly verbs: readonly Verb[]
  /** The verbs in discovery, if they differ: fewer while the definition is deleted (rules.md 8.6). */
  readonly discoveryVerbs?: readonly Verb[]
  readonly storage: ResourceStorage<P>
  readonly schema: ObjectSchema
  /** Printer columns after `Name`. */
  readonly columns: readonly TableColumn[]
  readonly subresources: readonly Subresource<P>[]
  /** For discovery: 8 bytes in base64 (rules.md 8.4). */
  readonly storageVersionHash?: string
  /** Custom resources have kind and apiVersion in list items and do not support strategic merge patch (rules.md 4.2, 5.1). */
  readonly custom: boolean
  /** A custom resource takes strategic merge patches: kcp accepts them for the groups of Kubernetes (rules.md 5.1). */
  readonly strategicMergePatch?: true
  /** List items have kind and apiVersion although the resource is built-in, as in kcp's views of exports (rules.md 4.2). */
  readonly itemsHaveKind?: true
  /** Whether PUT without resourceVersion overwrites; otherwise it is 422 (rules.md 3.22). */
  readonly unconditionalUpdate: boolean
  /** Whether PUT creates missing objects; otherwise it is 404 (rules.md 3.23). */
  readonly createOnUpdate: boolean
  /** Sets defaults that a schema cannot express, such as a label with the object's name; called after decoding. */
  readonly complete?: (object: KubeObject) => KubeObject
  /**
   * An object in another version of the resource, for the owners of fields whose names differ between versions. Absent: they have the
   * same names in all versions.
   */
  readonly convert?: (object: KubeObject, version: string) => Promise<KubeObject>
  /** Objects that keep the uid, the times and the managedFields that a client sends: copies of objects of other servers. */
  readonly keepsSystemFields?: (object: KubeObject) => boolean
  /** Whether DELETE returns the object instead of a Status (rules.md 6.6). */
  readonly deleteReturnsObject?: boolean
  /** The fields that endpoints do not write, if they differ from those of custom resources (rules.md 5.51k). */
  readonly resetFields?: ResetFields
  /** Field selectors besides metadata.name and metadata.namespace: the value of a field as text, '' when absent. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>
  /** Query parameters of lists and watches besides those of `metav1.ListOptions`: the storage gets them in `Selection.options`. */
  readonly queryOptions?: readonly string[]
  /** The warning for every request to a deprecated version (rules.md 7.44). */
  readonly deprecationWarning?: string
  /** The published OpenAPI v3 schema of the kind, with unresolved references; for OpenAPI documents only. */
  readonly openapi: Readonly<Record<string, unknown>>
}

/**
 * The resources of one endpoint. Immutable: return the same object until something changes, because discovery and
 * OpenAPI documents are cached by ApiSet. `apiSetOf` makes one.
 */
export interface ApiSet<P extends Params = Params> {
  /** Sorted by group, then version in Kubernetes' order, then plural. */
  readonly resources: readonly ApiResource<P>[]
  /** undefined for an unknown resource. A backend finds a bound resource also by `<plural>:<identity hash>`, with its identity. */
  find(group: string, version: string, plural: string): ApiResource<P> | undefined
  /** Resources whose metadata only can be read, in any version. */
  findMetadata?(group: string, version: string, plural: string): ApiResource<P> | undefined
  /** Discovery has no aggregated form, as in kcp. */
  readonly unaggregated?: true
  /** The backend serves more resources: discovery and OpenAPI requests are forwarded to it. */
  readonly isPartial?: true
  /** Aborts when this set is replaced: watches of its resources then end without an error. */
  readonly replaced?: AbortSignal
}

/**
 * Returns an ApiSet of resources. `replaced` aborts when the set is replaced.
 *
 * ```ts
 * const apis = apiSetOf([{ ...configMaps, verbs: ['get', 'list', 'watch'] }])
 * ```
 */
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

/** Compares versions, the preferred one first: GA, beta, alpha; higher numbers first; others by name (rules.md 8.5). */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0
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

/** The resource of a set, under its identity if the ref has one; undefined where there is none. */
export const resourceOfRef = (
  apis: ApiSet | undefined,
  { group, version, resource, identity }: GroupVersionResource & { readonly identity?: string },
): ApiResource | undefined =>
  apis?.find(group, version, identity === undefined ? resource : `${resource}:${identity}`)

/** The storage of a resource or of its subresource; undefined where there is none. */
export function storageOfRef(
  apis: ApiSet | undefined,
  ref: GroupVersionResource & { readonly subresource?: string; readonly identity?: string },
): ResourceStorage | undefined {
  const { subresource = '' } = ref
  const served = resourceOfRef(apis, ref)
  if (subresource === '') return served?.storage
  return served?.subresources.find(each => each.name === subresource)?.storage
}

/** The resource of a kind, with the version of `apiVersion`; undefined where there is none. */
export function resourceOfKind(
  apis: ApiSet | undefined,
  { apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>,
): ApiResource | undefined {
  const group = groupIn(apiVersion)
  const version = versionIn(apiVersion)
  return apis?.resources.find(r => r.group === group && r.version === version && r.names.kind === kind)
}

/** The endpoint of a request: a resource or one of its subresources, with the same members for both. */
export interface Served {
  readonly resource: ApiResource
  /** '' for the resource itself. */
  readonly subresource: string
  /** The group of the objects in request and response; differs from the resource's for `scale` and `token`. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage
  readonly schema: ObjectSchema
}

const itself = new WeakMap<ApiResource, Served>()

/** Returns the endpoint of a request. Throws 404 for an unknown subresource. */
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

/** The group, resource and name for errors. */
export const aboutOf = ({ resource }: Served, name = ''): About => ({
  group: resource.group,
  resource: resource.names.plural,
  name,
})

/** Throws 405 for a verb that is not served. */
export function requireVerb(served: Served, verb: Verb): void {
  if (!served.verbs.includes(verb)) throw methodNotSupported(aboutOf(served), verb)
}
