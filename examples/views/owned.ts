import type { ResourceRef } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** A join: the config maps of all logical clusters, with the label `owner` of their namespace as an annotation. */
const owned: ViewPlugin = ({ apiSetOf, defineVirtualWorkspace, joined }) =>
  defineVirtualWorkspace('owned', '/services/owned', ({ backend, informers }) => {
    const core = (resource: string): ResourceRef => ({ group: '', version: 'v1', resource })
    const configMaps = backend.apis('*')?.find('', 'v1', 'configmaps')
    if (configMaps === undefined) throw new Error('there are no config maps')
    const storage = joined(configMaps.storage, {
      objects: informers.for(core('configmaps')),
      joined: informers.for(core('namespaces')),
      key: ({ key }) => ({ namespace: '', name: key.namespace }),
      annotations: { 'example.com/owner': namespace => namespace?.meta.labels.owner },
    })
    const apis = apiSetOf([{ ...configMaps, storage }])
    return { apis: () => apis }
  })

export default owned
