import { contextWith, type RequestContext } from '../contract/context.ts'
import { clusterAnnotation } from '../contract/item.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import { annotator } from '../lens/annotate.ts'
import { readOnly, viewOf } from '../lens/view.ts'
import { badRequest, internalError } from '../meta/errors.ts'
import { type ClusterName, type GroupVersionResource, groupResource } from '../meta/object.ts'

type About = Pick<GroupVersionResource, 'group' | 'resource'>

/** The logical cluster that the objects are read from. */
export interface CrossClusterSource {
  readonly cluster: ClusterName
  readonly storage: ResourceStorage
}

/**
 * The objects of one logical cluster as read-only objects of the requested one. The source may depend on the user and
 * the request. `*` returns 400: the cluster of the objects would be ambiguous.
 */
export const crossClusterRead = (
  about: About,
  sourceOf: (ctx: RequestContext) => CrossClusterSource,
): ResourceStorage =>
  readOnly(about, {
    get: async (ctx, key) => {
      const { cluster, there, storage } = through(about, ctx, sourceOf)
      return storage.get(there, { ...key, cluster })
    },
    list(ctx, query) {
      const { cluster, there, storage } = through(about, ctx, sourceOf)
      return storage.list(there, { ...query, cluster })
    },
    watch(ctx, query) {
      const { cluster, there, storage } = through(about, ctx, sourceOf)
      return storage.watch(there, { ...query, cluster })
    },
  })

/** The maximum number of clusters that read from each other in one request; more are a cycle. */
const maxHops = 4

const cycleError = ({ group, resource }: About, times: number): Error =>
  internalError(
    `request for ${groupResource(group, resource)} has been forwarded ${times} times without being served: ` +
      'the logical clusters that publish it read it from each other',
  )

function through(about: About, ctx: RequestContext, sourceOf: (ctx: RequestContext) => CrossClusterSource) {
  if (ctx.cluster === '*') throw badRequest('Wildcard request not supported')
  if (ctx.hops >= maxHops) throw cycleError(about, ctx.hops)
  const { cluster, storage } = sourceOf(ctx)
  const annotate = annotator({ [clusterAnnotation]: ctx.cluster })
  return {
    cluster,
    there: contextWith(ctx, { cluster, hops: ctx.hops + 1 }),
    storage: viewOf(storage, () => ({ annotate })),
  }
}
