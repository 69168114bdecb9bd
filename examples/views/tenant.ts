import type { KubeObject } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/**
 * Renamed and rewritten, writable: teams share the namespace `shared` of a logical cluster. Each one sees its config maps there under
 * names of its own, in the namespace `default`. They are stored with the prefix and the label of the team.
 */
const tenant: ViewPlugin = f =>
  f.defineVirtualWorkspace('tenant', '/services/tenant/:team', ({ backend }) => {
    const configMaps = backend.apis('*')?.find('', 'v1', 'configmaps')
    if (configMaps === undefined) throw new Error('there are no config maps')
    const namespaces = f.namesIn({ default: 'shared' })
    const own = f.renamed(configMaps.storage, ({ params }) => ({
      names: f.prefixed(`${params.team}-`),
      namespaces,
    }))
    const withLabel = ({ metadata, ...content }: KubeObject, team = ''): KubeObject =>
      ({
        ...content,
        metadata: { ...metadata, labels: { ...metadata.labels, team } },
      }) as KubeObject
    const storage = f.viewOf(own, ({ params }) => ({
      narrow: query => ({
        ...query,
        labels: f.andLabels(query.labels, f.labelEquals('team', params.team ?? '')),
      }),
      accept: object => withLabel(object, params.team),
    }))
    const apis = f.apiSetOf([{ ...configMaps, storage }])
    return {
      apis: () => apis,
      authorize: async ({ params, user }) =>
        user.groups.includes(`team:${params.team}`) ? f.allow('a member') : f.deny('not a member'),
      actAs: () => f.loopback,
    }
  })

export default tenant
