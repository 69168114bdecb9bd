import type { ViewPlugin } from '../../framework/plugin.ts'

/** The View in red.yaml, as code. */
const red: ViewPlugin = ({ apiSetOf, defineVirtualWorkspace, loopback, viewOf }) =>
  defineVirtualWorkspace('red', '/services/red', ({ backend }) => {
    const configMaps = backend.apis('*')?.find('', 'v1', 'configmaps')
    if (configMaps === undefined) throw new Error('there are no config maps')
    const storage = viewOf(configMaps.storage, () => ({
      matchesObject: object => dataOf(object).color === 'red',
      present: object => {
        const { token: _, ...data } = dataOf(object)
        // Managed fields have the names of hidden ones.
        const { managedFields: __, ...metadata } = object.metadata
        const annotations = { ...metadata.annotations, 'example.com/color': data.color ?? '' }
        return { ...object, data, metadata: { ...metadata, annotations } }
      },
    }))
    const apis = apiSetOf([{ ...configMaps, storage, verbs: ['get', 'list', 'watch'], subresources: [] }])
    return {
      apis: () => apis,
      authorize({ cluster, info: { verb }, user, signal }) {
        const content = { group: 'example.com', version: 'v1', resource: 'views', subresource: 'content' }
        const resource = { ...content, namespace: '', name: 'red' }
        return backend.authorizer.authorize(user, { verb, cluster, resource }, signal)
      },
      actAs: () => loopback,
    }
  })

const dataOf = (object: object): Readonly<Record<string, string>> =>
  (object as { data?: Record<string, string> }).data ?? {}

export default red
