import type { OwnKind } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** A computed view: one object for each logical cluster, with its phase and its age in days. */
const clusterInfo: ViewPlugin = ({ apiSetOf, defineVirtualWorkspace, ObjectMap, resourceOf, storageOf }) =>
  defineVirtualWorkspace('clusterinfo', '/services/clusterinfo', ({ informers }) => {
    const kind: OwnKind = {
      group: 'example.com',
      version: 'v1',
      resource: 'clusterinfos',
      kind: 'ClusterInfo',
      columns: { Phase: ({ phase }) => String(phase) },
    }
    const infos = new ObjectMap(kind)
    const clusters = informers.for({ group: 'core.kcp.io', version: 'v1alpha1', resource: 'logicalclusters' })
    clusters.onEvent(({ type, item }) => {
      const { cluster } = item.key
      const { status, metadata } = item.object
      if (type === 'DELETED') infos.delete(cluster, 'this')
      else {
        const { phase = 'Unknown' } = (status ?? {}) as { readonly phase?: string }
        infos.set(cluster, { metadata: { name: 'this' }, phase, since: metadata.creationTimestamp })
      }
    })
    const apis = apiSetOf([resourceOf(kind, storageOf(infos))])
    return {
      apis: () => apis,
      run: async ready => {
        await clusters.synced
        ready()
      },
    }
  })

export default clusterInfo
