import { contextWith, type RequestContext } from '../../framework/contract/context.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import type { ClusterName, ClusterScope, ObjectKey } from '../../framework/meta/object.ts'
import { isClusterName, type Params } from '../../framework/request/path.ts'

/** The parameters of the URLs of a cache server: the name of a shard, or `*`. */
export type ShardParams = { readonly shard: string }

/** A request to a cache server. */
export type ShardContext = RequestContext<ShardParams>

/** What no name of a shard and of a logical cluster has. */
const separator = '|'

/** The logical cluster of a shard in the keys of the store, where logical clusters of several shards are side by side. */
export const placeOf = (shard: string, cluster: ClusterName): ClusterName => `${shard}${separator}${cluster}`

/** The shard and the logical cluster of a key. */
export function partsOf(place: ClusterName): { readonly shard: string; readonly cluster: ClusterName } {
  const at = place.indexOf(separator)
  return { shard: place.slice(0, at), cluster: place.slice(at + 1) }
}

/** A request whose logical cluster is a place, or `*`; `params` has the shard and the logical cluster of the URL. */
export type PlacedContext = RequestContext<{ readonly shard: string; readonly cluster: ClusterScope }>

/** The place that a request reads: all places where its shard or its logical cluster is `*`. */
export const scopeOf = ({ params, cluster }: ShardContext): ClusterScope =>
  params.shard === '*' || cluster === '*' ? '*' : placeOf(params.shard, cluster)

export const placed = (ctx: ShardContext): PlacedContext => {
  const params = { shard: ctx.params.shard, cluster: ctx.cluster }
  return contextWith<ShardParams & Params>(ctx, { cluster: scopeOf(ctx), params }) as PlacedContext
}

/** Whether a place is selected by a request. */
export function selects({ params }: PlacedContext, place: ClusterName): boolean {
  const { shard, cluster } = partsOf(place)
  return isOr(params.shard, shard) && isOr(params.cluster, cluster)
}

const isOr = (wanted: string, name: string): boolean => wanted === '*' || wanted === name

/** The key in the store of an object that is written. Throws 400 for `*`. */
export function placedForWrite(ctx: ShardContext, key: ObjectKey): ObjectKey {
  const cluster = scopeOf(ctx)
  if (cluster === '*') throw badRequest('a write must name one shard and one logical cluster')
  return { ...key, cluster }
}

const shardName = /^[a-z0-9-:]{1,61}$/

/** Throws 400 for a malformed name of a shard (kcp `pkg/cache/server/handler.go`, WithShardScope). */
export function checkShard(shard: string): void {
  if (shard !== '*' && !shardName.test(shard))
    throw badRequest(`invalid shard: ${JSON.stringify(shard)} does not match the regex`)
}

/** Logical clusters are named by their names, not by paths of workspaces. */
export const clusterNamed = (name: string): ClusterName | undefined =>
  isClusterName(name) ? name : undefined
