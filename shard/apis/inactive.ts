import type { RequestContext } from '../../framework/contract/context.ts'
import { isCopied, type ObjectMeta } from '../../framework/contract/item.ts'
import { expired, forbidden, type StatusError } from '../../framework/meta/errors.ts'
import type { ClusterName, ClusterScope } from '../../framework/meta/object.ts'
import type { RequestInfo } from '../../framework/request/requestinfo.ts'
import { isPrivileged } from '../../framework/request/user.ts'
import { inactiveAnnotation, migratingAnnotation } from '../../kcp/annotations.ts'
import { coreGroup } from '../../kcp/apigroups.ts'
import { dumpsPath } from '../../kcp/migration.ts'
import { externalLogicalClusterAdmin } from '../../kcp/users.ts'
import { revisionIn } from '../cache/continuation.ts'
import type { WatchCache } from '../cache/contract.ts'
import type { WatchCacheEvent } from '../cache/item.ts'
import { customSegment } from '../cache/segments.ts'
import type { WatchEnds } from './ends.ts'
import { type Arrival, arrivalIn, beingMigrated, partialStateOf } from './moved.ts'

/**
 * Logical clusters with the annotation `core.kcp.io/inactive`, and those that move to another shard
 * (`pkg/server/filters/inactivelogicalcluster.go` and `migratinglogicalcluster.go` of kcp).
 */
export interface Inactive {
  /** The refusal of a request to a logical cluster; undefined when it is served. */
  refusal(cluster: ClusterScope, request: RefusableRequest, query: URLSearchParams): StatusError | undefined
  /** The same for one whose objects are arriving, or are being removed, or were removed in the last ten minutes. */
  refusalToAll: Inactive['refusal']
  /** Whether another shard has some of its objects, or all. */
  isPartial(cluster: ClusterName): boolean
  /** The refusal of every write, also by controllers, while the logical cluster moves. */
  refusalOfWrites(cluster: ClusterName): StatusError | undefined
}

const older = 'internal.kcp.io/inactive'
/** Paths that are served nevertheless, so that the cluster can be activated again. */
const exceptions = ['/openapi', '/apis/core.kcp.io/v1alpha1/logicalclusters']

type RefusableRequest = Pick<RequestContext, 'info' | 'user'>

interface Known {
  readonly inactive: Set<ClusterName>
  readonly moving: Set<ClusterName>
  readonly moved: Map<ClusterName, Arrival>
  /** Those whose objects another shard has, too, as one of two shards says. */
  readonly partial: Map<ClusterName, 'arriving' | 'leaving'>
  /** Those that have left, and when, in milliseconds of `performance.now`. */
  readonly left: Map<ClusterName, number>
}

/**
 * Milliseconds in which front proxies learn that another shard has a logical cluster: they send requests to this one until then. Mostly
 * they know at once. To one whose watch of this shard hangs, an empty list would say that all objects were deleted.
 */
const remembered = { others: 600_000, shards: 5_000 }

/** Also ends the watches of a cluster that becomes inactive or moves. */
export function followInactive(cache: WatchCache, ends: WatchEnds): Inactive {
  const known: Known = {
    inactive: new Set(),
    moving: new Set(),
    moved: new Map(),
    partial: new Map(),
    left: new Map(),
  }
  cache
    .resource(coreGroup, 'logicalclusters', customSegment)
    .subscribe(event => follow(known, event, ends), { replay: true })
  const isForeign = (cluster: ClusterName, { info }: RefusableRequest, query: URLSearchParams): boolean => {
    const arrival = known.moved.size === 0 ? undefined : known.moved.get(cluster)
    return arrival !== undefined && isOfShardBefore(arrival, resumed(info, query), cache.revision)
  }
  return {
    refusal(cluster, request, query) {
      if (known.moving.has(cluster)) return movingRefusal(request, query)
      if (isForeign(cluster, request, query)) return expired('the resourceVersion is of another shard')
      if (!known.inactive.has(cluster)) return undefined
      if (exceptions.some(exception => request.info.path.startsWith(exception))) return undefined
      const about = { group: coreGroup, resource: 'logicalclusters', name: cluster }
      return forbidden(about, 'logical cluster is marked inactive')
    },
    refusalToAll(cluster, request, query) {
      if (hasLeft(known, cluster, request)) return refusalOf(request, query)
      return known.partial.has(cluster) ? movingRefusal(request, query) : undefined
    },
    isPartial: cluster => known.partial.has(cluster),
    refusalOfWrites: cluster => (known.moving.has(cluster) ? beingMigrated() : undefined),
  }
}

function follow(known: Known, { type, item: { cluster, meta } }: WatchCacheEvent, ends: WatchEnds): void {
  const { inactive, moving, moved } = known
  const { annotations } = meta
  const isThere = type !== 'DELETED'
  const isOff = isThere && (annotations[inactiveAnnotation] === 'true' || annotations[older] === 'true')
  const isOwn = isThere && !isCopied(meta)
  const isMoving = isOwn && annotations[migratingAnnotation] !== undefined
  const isNew = isOff && !inactive.has(cluster)
  setMember(inactive, cluster, isOff)
  setMember(moving, cluster, isMoving)
  followPartial(known, cluster, isOwn ? annotations : undefined)
  const arrival = isOwn ? arrivalIn(annotations) : undefined
  if (arrival === undefined) moved.delete(cluster)
  else moved.set(cluster, arrival)
  // At every event of a moving one: a watch may have been admitted before.
  if (isNew || isMoving) ends.endAll(cluster)
}

/** Other shards are refused, too, until they know: they would take it for deleted. */
function hasLeft({ left }: Known, cluster: ClusterScope, { user }: RefusableRequest): boolean {
  const since = left.size === 0 ? undefined : left.get(cluster)
  if (since === undefined) return false
  const longest = isShard(user) ? remembered.shards : remembered.others
  return performance.now() - since < longest
}

const isShard = ({ groups }: RefusableRequest['user']): boolean =>
  groups.includes(externalLogicalClusterAdmin)

/** `annotations`: those of an own logical cluster; undefined when it is gone, or a copy. */
function followPartial(
  { partial, left }: Known,
  cluster: ClusterName,
  annotations: ObjectMeta['annotations'] | undefined,
): void {
  if (annotations !== undefined) left.delete(cluster)
  else if (partial.get(cluster) === 'leaving') left.set(cluster, performance.now())
  const state = annotations && partialStateOf(annotations)
  if (state === undefined) partial.delete(cluster)
  else partial.set(cluster, state)
  for (const [each, since] of left) if (performance.now() - since >= remembered.others) left.delete(each)
}

function setMember(clusters: Set<ClusterName>, cluster: ClusterName, isMember: boolean): void {
  if (isMember) clusters.add(cluster)
  else clusters.delete(cluster)
}

/**
 * Clients that resume list again: the revisions of the other shard are not those of this one. Other shards read on, and get
 * the stored entries. One with the credentials of an administrator reads the LogicalCluster, which tells how far the move is.
 */
function movingRefusal(request: RefusableRequest, query: URLSearchParams): StatusError | undefined {
  const { info, user } = request
  const mayRead = info.path === dumpsPath || isShard(user) || (isPrivileged(user) && isHome(info))
  return mayRead ? undefined : refusalOf(request, query)
}

const isHome = (info: RequestInfo): boolean =>
  info.isResource && info.verb === 'get' && info.group === coreGroup && info.resource === 'logicalclusters'

const refusalOf = ({ info }: RefusableRequest, query: URLSearchParams): StatusError =>
  resumed(info, query) === undefined
    ? beingMigrated()
    : expired('logical cluster is being migrated to another shard; relist required')

/** The revision of a list or watch that continues from what a client has, also with a continue token; undefined for others. */
function resumed(info: RequestInfo, query: URLSearchParams): number | undefined {
  if (!info.isResource || (info.verb !== 'list' && info.verb !== 'watch')) return undefined
  const token = query.get('continue') ?? ''
  if (token !== '') return revisionIn(token)
  const version = query.get('resourceVersion') ?? ''
  return version === '' || version === '0' ? undefined : Number(version)
}

/** A revision before the arrival, or one that this shard has not reached and the other one had. */
const isOfShardBefore = ({ here, there }: Arrival, version: number | undefined, newest: number): boolean =>
  version !== undefined && (version <= here || (version > newest && version <= there))
