import type { Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import { type ClusterName, groupResource } from '../../framework/meta/object.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import { resources } from '../../kcp/resources.ts'
import { createShared } from '../apis/bound.ts'

/** What an APIBinding binds. */
export interface BoundSet {
  /** The path of the reference; without one, the binding's own workspace. */
  readonly path: string
  /** The name of the APIExport. */
  readonly name: string
  /** The logical cluster of the APIExport, once the binding knows it. */
  readonly exportCluster: ClusterName | undefined
  /** `<plural>.<group>` of `status.boundResources`. */
  readonly resources: ReadonlySet<string>
}

/** The bound resources of all logical clusters, from memory. */
export interface BoundSets {
  /** What the APIBindings of a logical cluster that bind the resource bind; usually one or none. */
  of(cluster: ClusterName, group: string, resource: string): readonly BoundSet[]
}

interface Entry {
  readonly binding: string
  readonly set: BoundSet
}

/** Follows the APIBindings. */
export function boundSetsOf(informers: Informers): BoundSets {
  const byCluster = new Map<ClusterName, readonly Entry[]>()
  const shared = sharedSets()
  informers.for(resources.apiBindings).onEvent(({ type, item }) => {
    if (type === 'BOOKMARK') return
    const { cluster, name } = item.key
    const others = (byCluster.get(cluster) ?? none).filter(({ binding }) => binding !== name)
    const set = type === 'DELETED' ? undefined : boundBy(item)
    const entries = set === undefined ? others : [...others, { binding: name, set: shared(set) }]
    if (entries.length === 0) byCluster.delete(cluster)
    else byCluster.set(cluster, entries)
  })
  return {
    of(cluster, group, resource) {
      const id = groupResource(group, resource)
      const entries = (byCluster.get(cluster) ?? none).filter(({ set }) => set.resources.has(id))
      return entries.map(({ set }) => set)
    },
  }
}

const none: readonly Entry[] = []

function boundBy({ key, object }: Item): BoundSet | undefined {
  const { spec, status } = object as APIBinding
  const to = spec?.reference?.export
  const bound = status?.boundResources ?? []
  if (to === undefined || bound.length === 0) return undefined
  return {
    path: to.path || key.cluster,
    name: to.name,
    exportCluster: status?.apiExportClusterName,
    resources: new Set(bound.map(({ group, resource }) => groupResource(group, resource))),
  }
}

/** Returns the known set that is equal: the bindings of most workspaces bind the same, and a set of each takes a kilobyte. */
function sharedSets(): (set: BoundSet) => BoundSet {
  const shared = createShared<BoundSet>()
  return set =>
    shared.get(JSON.stringify([set.path, set.name, set.exportCluster, ...set.resources]), () => set)
}
