import { contextWith, type RequestContext } from '../contract/context.ts'
import { clusterAnnotation } from '../contract/item.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import { annotator } from '../lens/annotate.ts'
import { readOnly } from '../lens/readonly.ts'
import { viewOf } from '../lens/view.ts'
import { badRequest, internalError } from '../meta/errors.ts'
import { type ClusterName, type GroupVersionResource, groupResource } from '../meta/object.ts'

type About = Pick<GroupVersionResource, 'group' | 'resource'>

/** Where objects are borrowed from. */
export interface Lender {
  readonly cluster: ClusterName
  readonly storage: ResourceStorage
}

/**
 * Objects of one logical cluster as the one that is asked shows them: as its own, to be read. Which is the lender may
 * depend on who asks, and where. `*` is 400: nothing says whose objects those would be.
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

/** A lender may have borrowed itself; a request that has come so far goes round in a circle (chapter 10, section 11). */
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
