import { type KubernetesObject, Watch } from '@kubernetes/client-node'

/** The logical cluster that an object lives in, as views tell it. */
export const clusterOf = (object: KubernetesObject): string =>
  object.metadata?.annotations?.['kcp.io/cluster'] ?? ''

/**
 * The informers of @kubernetes/client-node tell objects apart by namespace and name. In a view of many logical clusters
 * that is not enough, so there the namespace becomes `<cluster>/<namespace>`.
 */
export const keyed = <T extends KubernetesObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace: `${clusterOf(object)}/${object.metadata?.namespace ?? ''}` },
})

/** A watch whose objects are `keyed`; bookmarks and errors pass as they are. */
export class ClusterWatch extends Watch {
  override watch(...[path, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    const onEvent: typeof callback = (type, object, event) =>
      callback(type, type === 'BOOKMARK' || type === 'ERROR' ? object : keyed(object), event)
    return super.watch(path, query, onEvent, done)
  }
}
