import { contextWith, type RequestContext } from '../contract/context.ts'
import { clusterAnnotation } from '../contract/item.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import { annotator } from '../lens/annotate.ts'
import { readOnly } from '../lens/readonly.ts'
import { viewOf } from '../lens/view.ts'
import { badRequest, internalError } from '../meta/errors.ts'
import { type ClusterName, type GroupVersionResource, groupResource } from '../meta/object.ts'

type About = Pick<GroupVersionResource, 'group' | 'resource'>

/** The logical cluster that the objects are read from. */
export interface Lender {
  readonly cluster: ClusterName
  readonly storage: ResourceStorage
}

/**
 * The objects of one logical cluster as read-only objects of the requested one. The source may depend on the user and
 * the request. `*` returns 400: the cluster of the objects would be ambiguous.
 */
export const borrowed = (about: About, lenderOf: (ctx: RequestContext) => Lender): ResourceStorage =>
  readOnly(about, {
    get: async (ctx, key) => {
      const { cluster, there, storage } = through(about, ctx, lenderOf)
      return storage.get(there, { ...key, cluster })
    },
    list(ctx, query) {
      const { cluster, there, storage } = through(about, ctx, lenderOf)
      return storage.list(there, { ...query, cluster })
    },
    watch(ctx, query) {
      const { cluster, there, storage } = through(about, ctx, lenderOf)
      return storage.watch(there, { ...query, cluster })
    },
  })

/** The maximum number of clusters that read from each other in one request; more are a cycle. */
const mostLenders = 4

const inACircle = ({ group, resource }: About, times: number): Error =>
  internalError(
    `request for ${groupResource(group, resource)} has been forwarded ${times} times without being served: ` +
      'whoever publishes it reads it from where it is published',
  )

function through(about: About, ctx: RequestContext, lenderOf: (ctx: RequestContext) => Lender) {
  if (ctx.cluster === '*') throw badRequest('Wildcard request not supported')
  if (ctx.hops >= mostLenders) throw inACircle(about, ctx.hops)
  const { cluster, storage } = lenderOf(ctx)
  const annotate = annotator({ [clusterAnnotation]: ctx.cluster })
  return {
    cluster,
    there: contextWith(ctx, { cluster, hops: ctx.hops + 1 }),
    storage: viewOf(storage, () => ({ annotate })),
  }
}
