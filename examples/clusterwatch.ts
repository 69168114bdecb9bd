import { type KubernetesObject, Watch } from '@kubernetes/client-node'

/** The logical cluster of an object, from the annotation that views set. */
export const clusterOf = (object: KubernetesObject): string =>
  object.metadata?.annotations?.['kcp.io/cluster'] ?? ''

/**
 * The informers of @kubernetes/client-node identify objects by namespace and name, which are not unique in a view of many
 * logical clusters. So the namespace is replaced by `<cluster>/<namespace>`.
 */
export const keyed = <T extends KubernetesObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace: `${clusterOf(object)}/${object.metadata?.namespace ?? ''}` },
})

/** A watch whose objects are `keyed`; bookmarks and errors are unchanged. */
export class ClusterWatch extends Watch {
  override watch(...[path, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    const onEvent: typeof callback = (type, object, event) =>
      callback(type, type === 'BOOKMARK' || type === 'ERROR' ? object : keyed(object), event)
    return super.watch(path, query, onEvent, done)
  }
}
