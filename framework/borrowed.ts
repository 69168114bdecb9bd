import { annotator } from './annotate.ts'
import type { RequestContext } from './context.ts'
import { badRequest } from './errors.ts'
import { clusterAnnotation } from './item.ts'
import type { ClusterName, GroupVersionResource } from './object.ts'
import { readOnly } from './readonly.ts'
import { contextWith } from './requestcontext.ts'
import type { ResourceStorage } from './storage.ts'
import { viewOf } from './view.ts'

/** Where objects are borrowed from. */
export interface Lender {
  readonly cluster: ClusterName
  readonly storage: ResourceStorage
}

/**
 * Objects of one logical cluster as the one that is asked shows them: as its own, to be read. Which is the lender may
 * depend on who asks, and where. `*` is 400: nothing says whose objects those would be.
 */
export const borrowed = (
  about: Pick<GroupVersionResource, 'group' | 'resource'>,
  lenderOf: (ctx: RequestContext) => Lender,
): ResourceStorage =>
  readOnly(about, {
    get: async (ctx, key) => {
      const { cluster, there, storage } = through(ctx, lenderOf)
      return storage.get(there, { ...key, cluster })
    },
    list(ctx, query) {
      const { cluster, there, storage } = through(ctx, lenderOf)
      return storage.list(there, { ...query, cluster })
    },
    watch(ctx, query) {
      const { cluster, there, storage } = through(ctx, lenderOf)
      return storage.watch(there, { ...query, cluster })
    },
  })

function through(ctx: RequestContext, lenderOf: (ctx: RequestContext) => Lender) {
  if (ctx.cluster === '*') throw badRequest('Wildcard request not supported')
  const { cluster, storage } = lenderOf(ctx)
  const annotate = annotator({ [clusterAnnotation]: ctx.cluster })
  return { cluster, there: contextWith(ctx, { cluster }), storage: viewOf(storage, () => ({ annotate })) }
}
