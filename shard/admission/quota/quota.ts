import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import { type ClusterName, groupResource, type KubeObject } from '../../../framework/meta/object.ts'
import { isPrivileged } from '../../../framework/request/user.ts'
import { maxObjectsAnnotation } from '../../../kcp/annotations.ts'
import { apisGroup, viewsGroup } from '../../../kcp/apigroups.ts'
import type { WatchCacheEvent } from '../../cache/item.ts'
import type { ResourceCache } from '../../cache/resource.ts'
import type { WatchCache } from '../../cache/watchcache.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { refused } from './refusal.ts'

/**
 * The limits of each logical cluster; 0: no limit. For `root` only the limit of all logical clusters together
 * applies.
 */
export interface QuotaLimits {
  /** Objects in a logical cluster without the annotation `core.kcp.io/max-total-objects`. */
  readonly objects: number
  /** Bytes of all objects in a logical cluster, encoded as JSON. */
  readonly bytes: number
  /** Namespaces in a logical cluster. */
  readonly namespaces: number
  /** Workspaces below a workspace, at any depth. */
  readonly workspaces: number
  /** Bytes of all objects in all logical clusters. */
  readonly totalBytes: number
  /** Bytes of the objects in a logical cluster that the server keeps decoded. */
  readonly decodedBytes: number
  /** The same in all logical clusters. */
  readonly totalDecodedBytes: number
}

export const noQuota: QuotaLimits = {
  ...{ objects: 0, bytes: 0, namespaces: 0, workspaces: 0, totalBytes: 0 },
  ...{ decodedBytes: 0, totalDecodedBytes: 0 },
}

/** The disk of the store. */
export interface DiskSpace {
  /** Why only deletions are accepted; undefined while there is room. */
  readonly shortage: string | undefined
}

export interface QuotaAdmissionDeps {
  readonly directory: Pick<ClusterDirectory, 'logicalCluster' | 'path'>
  readonly cache: WatchCache
  readonly limits: QuotaLimits
  readonly disk: DiskSpace
}

/**
 * Limits what is stored: objects (kcp `pkg/admission/objectcountlimit`), bytes and namespaces of a logical cluster, the workspaces below
 * a workspace, and all by the room on the disk. Usage is counted when objects change. Requests of the server itself are
 * limited in the number of objects only.
 */
export function quotaAdmission(deps: QuotaAdmissionDeps): AdmissionPlugin {
  const usage = new Usage(deps)
  return {
    name: 'core.kcp.io/LogicalClusterObjectCountLimit',
    handles: { operations: ['CREATE', 'UPDATE'] },
    validate(ctx, request) {
      if (request.operation === 'DELETE' || completesDeletion(request)) return
      if (!isPrivileged(ctx.user)) {
        if (deps.disk.shortage !== undefined) throw diskFull(deps.disk.shortage)
        checkBytes(deps, usage, request)
        checkDecodedBytes(deps, usage, request)
      }
      if (request.operation !== 'CREATE' || request.subresource !== '') return
      checkObjects(deps, usage, request)
      if (!isPrivileged(ctx.user)) checkKinds(deps, usage, request)
    },
  }
}

/**
 * Whether a write completes a deletion: the object is being deleted, loses a finalizer and does not grow. Such writes
 * are always allowed. All others are limited, because finalizers keep an object as long as its user wants.
 */
function completesDeletion({ operation, old, object }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE' || old?.metadata.deletionTimestamp === undefined || object === undefined)
    return false
  return finalizersOf(object) < finalizersOf(old) && lengthOf(object) <= lengthOf(old)
}

const finalizersOf = ({ metadata }: KubeObject): number => metadata.finalizers?.length ?? 0

/** UTF-16 code units of what clients write, as JSON. */
function lengthOf({ metadata, ...content }: KubeObject): number {
  const { resourceVersion: _, generation: __, managedFields: ___, ...written } = metadata
  return JSON.stringify({ ...content, metadata: written }).length
}

/** 507 Insufficient Storage (RFC 4918, section 11.5): Kubernetes has no such status. Without Retry-After: client-go would wait. */
const diskFull = (shortage: string): StatusError => new StatusError(507, 'InsufficientStorage', shortage)

interface Limit {
  /** The holder of the quota: `logical cluster "x"`. */
  readonly who: string
  readonly what: string
  readonly used: number
  readonly most: number
}

function check(request: AdmissionAttributes, { who, what, used, most }: Limit): void {
  if (most <= 0 || used < most) return
  throw refused(
    request,
    `${who} has reached its limit of ${what} (${used}/${most}); delete objects to free up capacity`,
  )
}

function checkBytes({ limits }: QuotaAdmissionDeps, usage: Usage, request: AdmissionAttributes): void {
  const { cluster } = request.key
  check(request, { who: 'the server', what: 'bytes', used: usage.bytes, most: limits.totalBytes })
  if (cluster === 'root') return
  const who = `logical cluster "${cluster}"`
  check(request, { who, what: 'bytes', used: usage.of(cluster).bytes, most: limits.bytes })
}

const decodedWhat = 'bytes of definitions, RBAC objects, policies and Views'

function checkDecodedBytes({ limits }: QuotaAdmissionDeps, usage: Usage, request: AdmissionAttributes): void {
  const { cluster } = request.key
  if (!decodedKinds.has(groupResource(request.group, request.resource))) return
  const [what, total] = [decodedWhat, limits.totalDecodedBytes]
  check(request, { who: 'the server', what, used: usage.decodedBytes, most: total })
  if (cluster === 'root') return
  const used = usage.of(cluster).decodedBytes
  check(request, { who: `logical cluster "${cluster}"`, what, used, most: limits.decodedBytes })
}

function checkKinds(
  { limits, directory }: QuotaAdmissionDeps,
  usage: Usage,
  request: AdmissionAttributes,
): void {
  const { cluster } = request.key
  if (cluster === 'root') return
  const name = groupResource(request.group, request.resource)
  if (name === 'namespaces') {
    const used = usage.of(cluster).namespaces
    check(request, { who: `logical cluster "${cluster}"`, what: 'namespaces', used, most: limits.namespaces })
  }
  if (name !== workspaces) return
  for (const path of ancestorsOf(directory.path(cluster)))
    check(request, {
      who: `workspace "${path}"`,
      what: 'workspaces below it',
      used: usage.below(path),
      most: limits.workspaces,
    })
}

/** kcp's limit of objects. */
function checkObjects(
  { directory, limits }: QuotaAdmissionDeps,
  usage: Usage,
  request: AdmissionAttributes,
): void {
  const { cluster } = request.key
  if (isExempt(request)) return
  const home = directory.logicalCluster(cluster)
  if (home === undefined || home.status?.phase !== 'Ready') return
  const annotation = home.metadata.annotations?.[maxObjectsAnnotation]
  const most = limitOf(annotation, cluster === 'root' ? 0 : limits.objects)
  const count = usage.of(cluster).objects
  if (most <= 0 || count < most) return
  const reached = `has reached its total object count limit (${count}/${most} objects)`
  throw refused(request, `logical cluster "${cluster}" ${reached}; delete objects to free up capacity`)
}

const limitOf = (annotation: string | undefined, otherwise: number): number =>
  annotation !== undefined && /^[+-]?\d+$/.test(annotation) ? Number(annotation) : otherwise

/** Objects that a logical cluster needs, and those that report why it is full. */
function isExempt({ group, resource, key }: AdmissionAttributes): boolean {
  const name = groupResource(group, resource)
  return (
    uncounted.has(name) ||
    (name === 'clusterrolebindings.rbac.authorization.k8s.io' && key.name === 'workspace-admin')
  )
}

const workspaces = 'workspaces.tenancy.kcp.io'
const uncounted: ReadonlySet<string> = new Set([
  'events',
  'events.events.k8s.io',
  'logicalclusters.core.kcp.io',
])

/** `root:org:team` → `root:org:team`, `root:org`: the workspaces with a limit that contain a workspace. */
const ancestorsOf = (path: string): readonly string[] => {
  const segments = path.split(':')
  return segments.slice(1).map((_, i) => segments.slice(0, segments.length - i).join(':'))
}

const weighted = (weight: number, group: string, ...kinds: readonly string[]) =>
  kinds.map((kind): [string, number] => [groupResource(group, kind), weight])

const admissionGroup = 'admissionregistration.k8s.io'

/**
 * The kinds that the server keeps decoded, and how often a byte of them counts: decoded objects take about three times their bytes in
 * memory, compiled expressions about thirty times.
 */
const decodedKinds: ReadonlyMap<string, number> = new Map([
  ...weighted(1, 'apiextensions.k8s.io', 'customresourcedefinitions'),
  ...weighted(1, apisGroup, 'apiresourceschemas', 'apiexports', 'apibindings'),
  ...weighted(1, 'rbac.authorization.k8s.io', 'clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'),
  ...weighted(1, admissionGroup, 'mutatingwebhookconfigurations', 'validatingwebhookconfigurations'),
  ...weighted(10, admissionGroup, 'mutatingadmissionpolicies', 'validatingadmissionpolicies'),
  ...weighted(10, viewsGroup, 'views'),
])

/** The usage of a logical cluster. */
class ClusterUsage {
  objects = 0
  bytes = 0
  decodedBytes = 0
  namespaces = 0
}

const nothing = new ClusterUsage()

/** The usage of all logical clusters, kept by the events of the cache. */
class Usage {
  bytes = 0
  decodedBytes = 0
  readonly #directory: QuotaAdmissionDeps['directory']
  readonly #clusters = new Map<ClusterName, ClusterUsage>()
  /** The number of workspaces below each path. */
  readonly #below = new Map<string, number>()
  /** The path of the parent of each workspace, which may be gone before the workspace. */
  readonly #parents = new Map<string, string>()

  constructor({ cache, directory }: QuotaAdmissionDeps) {
    this.#directory = directory
    for (const each of cache.resources())
      for (const item of each.items()) this.#count(each, { type: 'ADDED', item })
    cache.subscribe((each, event) => this.#count(each, event))
  }

  of(cluster: ClusterName): ClusterUsage {
    return this.#clusters.get(cluster) ?? nothing
  }

  below(path: string): number {
    return this.#below.get(path) ?? 0
  }

  #count(
    { name }: ResourceCache,
    { type, item, previous }: Pick<WatchCacheEvent, 'type' | 'item' | 'previous'>,
  ): void {
    const used = this.#clusters.get(item.cluster) ?? new ClusterUsage()
    const by = type === 'ADDED' ? 1 : type === 'DELETED' ? -1 : 0
    const bytes = (type === 'DELETED' ? 0 : item.length) - (previous?.length ?? 0)
    this.bytes += bytes
    used.bytes += bytes
    const decodedBytes = bytes * (decodedKinds.get(name) ?? 0)
    this.decodedBytes += decodedBytes
    used.decodedBytes += decodedBytes
    if (!uncounted.has(name)) used.objects += by
    if (name === 'namespaces') used.namespaces += by
    if (name === workspaces && by !== 0) this.#countWorkspace(item.id, item.cluster, by)
    if (used.bytes === 0) this.#clusters.delete(item.cluster)
    else this.#clusters.set(item.cluster, used)
  }

  #countWorkspace(id: string, cluster: ClusterName, by: 1 | -1): void {
    const parent = this.#parents.get(id) ?? this.#directory.path(cluster)
    if (by > 0) this.#parents.set(id, parent)
    else this.#parents.delete(id)
    for (const path of ancestorsOf(parent)) {
      const count = this.below(path) + by
      if (count === 0) this.#below.delete(path)
      else this.#below.set(path, count)
    }
  }
}
