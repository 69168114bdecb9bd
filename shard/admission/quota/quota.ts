import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { sameJson } from '../../../framework/json/same.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import { groupResource, type KubeObject } from '../../../framework/meta/object.ts'
import { isPrivileged } from '../../../framework/request/user.ts'
import { maxObjectsAnnotation } from '../../../kcp/annotations.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { refused } from '../refusal.ts'
import type { Amounts, Share } from './tenants.ts'
import { ancestorsOf, decodedKinds, type Usage, uncountedKinds, workspaceKind } from './usage.ts'

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
  readonly usage: Usage
  readonly limits: QuotaLimits
  readonly disk: DiskSpace
}

/**
 * Limits what is stored: objects (kcp `pkg/admission/objectcountlimit`), bytes and namespaces of a logical cluster, the workspaces below
 * a workspace, and all by the room on the disk. Usage is counted when objects change. Requests of the server itself are
 * limited in the number of objects only.
 */
export function quotaAdmission(deps: QuotaAdmissionDeps): AdmissionPlugin {
  return {
    name: 'core.kcp.io/LogicalClusterObjectCountLimit',
    handles: { operations: ['CREATE', 'UPDATE'] },
    validate(ctx, request) {
      if (request.operation === 'DELETE' || completesDeletion(request)) return
      if (!isPrivileged(ctx.user)) {
        if (deps.disk.shortage !== undefined) throw diskFull(deps.disk.shortage)
        checkBytes(deps, request)
        checkDecodedBytes(deps, request)
      }
      if (request.operation !== 'CREATE' || request.subresource !== '') return
      checkObjects(deps, request)
      if (!isPrivileged(ctx.user)) checkKinds(deps, request)
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

function checkBytes({ limits, usage }: QuotaAdmissionDeps, request: AdmissionAttributes): void {
  const what = 'bytes'
  checkTotal(usage, request, { what, amount: 'bytes', total: limits.totalBytes, most: limits.bytes })
}

interface TotalLimit {
  readonly what: string
  readonly amount: keyof Amounts
  /** Of all logical clusters. */
  readonly total: number
  /** Of each logical cluster. */
  readonly most: number
}

/** The limit of all logical clusters, the shares of the tenant in it, and the limit of the logical cluster. */
function checkTotal(
  usage: Usage,
  request: AdmissionAttributes,
  { what, amount, total, most }: TotalLimit,
): void {
  const { cluster } = request.key
  check(request, { who: 'the server', what, used: usage.all[amount], most: total })
  if (cluster === 'root') return
  const own = usage.of(cluster)
  const reached = shareReached(own.tenant?.shares ?? [], { amount, total, used: usage.all[amount] })
  if (reached !== undefined) check(request, { ...reached, what: `${what} in the server` })
  check(request, { who: `logical cluster "${cluster}"`, what, used: own[amount], most })
}

const decodedWhat = 'bytes of definitions, RBAC objects, policies, Views and owner references'

interface LimitedTotal {
  readonly amount: keyof Amounts
  /** 0: no limit. */
  readonly total: number
  /** By all logical clusters. */
  readonly used: number
}

/** A share that is used up. */
interface ReachedShare {
  readonly who: string
  readonly used: number
  readonly most: number
}

/** The part of what the others leave that one share may become: eight ninths, eight times what then remains. */
const part = 8 / 9

/**
 * The first of the shares, each of which is a part of the one before it, that may not grow. One alone becomes at most
 * eight ninths of a limit, and the rest is divided in the same way among those that come later (the dynamic thresholds
 * of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
 */
function shareReached(
  shares: readonly Share[],
  { amount, total, used }: LimitedTotal,
): ReachedShare | undefined {
  if (total <= 0) return undefined
  let [most, all] = [total, used]
  for (const { who, [amount]: own } of shares) {
    most = Math.max(1, Math.floor((most - (all - own)) * part))
    if (own >= most) return { who, used: own, most }
    all = own
  }
  return undefined
}

function checkDecodedBytes({ limits, usage }: QuotaAdmissionDeps, request: AdmissionAttributes): void {
  if (!decodedKinds.has(groupResource(request.group, request.resource)) && !hasNewOwners(request)) return
  const [total, most] = [limits.totalDecodedBytes, limits.decodedBytes]
  checkTotal(usage, request, { what: decodedWhat, amount: 'decodedBytes', total, most })
}

function hasNewOwners({ object, old }: AdmissionAttributes): boolean {
  const owners = object?.metadata.ownerReferences ?? []
  return owners.length > 0 && !sameJson(owners, old?.metadata.ownerReferences)
}

function checkKinds({ limits, directory, usage }: QuotaAdmissionDeps, request: AdmissionAttributes): void {
  const { cluster } = request.key
  if (cluster === 'root') return
  const name = groupResource(request.group, request.resource)
  if (name === 'namespaces') {
    const used = usage.of(cluster).namespaces
    check(request, { who: `logical cluster "${cluster}"`, what: 'namespaces', used, most: limits.namespaces })
  }
  if (name !== workspaceKind) return
  for (const path of ancestorsOf(directory.path(cluster)))
    check(request, {
      who: `workspace "${path}"`,
      what: 'workspaces below it',
      used: usage.below(path),
      most: limits.workspaces,
    })
}

/** kcp's limit of objects. */
function checkObjects({ directory, limits, usage }: QuotaAdmissionDeps, request: AdmissionAttributes): void {
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
    uncountedKinds.has(name) ||
    (name === 'clusterrolebindings.rbac.authorization.k8s.io' && key.name === 'workspace-admin')
  )
}
