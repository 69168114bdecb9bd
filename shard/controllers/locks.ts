import type { ClusterName } from '../../framework/meta/object.ts'

/**
 * Resources that bindings are about to hold. Who holds one for good says so in `status.boundResources`; until that is
 * written it is kept here, so that of two bindings that want the same resource at the same time one comes first.
 */
export interface Locks {
  /** The name of the binding that has the resource: `binding` itself if it was free. */
  take(cluster: ClusterName, resource: string, binding: string): string
  /** To be called when what was taken is written, or not wanted any more. */
  release(cluster: ClusterName, binding: string): void
}

export function createLocks(): Locks {
  const holders = new Map<ClusterName, Map<string, string>>()
  return {
    take(cluster, resource, binding) {
      const held = holders.get(cluster) ?? new Map<string, string>()
      const holder = held.get(resource) ?? binding
      holders.set(cluster, held.set(resource, holder))
      return holder
    },
    release(cluster, binding) {
      const held = holders.get(cluster)
      for (const [resource, holder] of held ?? []) if (holder === binding) held?.delete(resource)
      if (held?.size === 0) holders.delete(cluster)
    },
  }
}
