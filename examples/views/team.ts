import type { ViewPlugin } from '../../framework/plugin.ts'

/** The ConfigMaps of all logical clusters that are labelled for a team, for the members of that team to read. */
const team: ViewPlugin = ({
  allow,
  andLabels,
  apiSetOf,
  defineVirtualWorkspace,
  deny,
  labelEquals,
  loopback,
  viewOf,
}) =>
  defineVirtualWorkspace('team', '/services/team/:team', ({ backend }) => {
    const configMaps = backend.apis('*')?.find('', 'v1', 'configmaps')
    if (configMaps === undefined) throw new Error('there are no config maps')
    const storage = viewOf(configMaps.storage, ({ params }) => ({
      narrow: query => ({
        ...query,
        labels: andLabels(query.labels, labelEquals('team', params.team ?? '')),
      }),
    }))
    const apis = apiSetOf([{ ...configMaps, storage, verbs: ['get', 'list', 'watch'] }])
    return {
      apis: () => apis,
      authorize: async ({ params, user }) =>
        user.groups.includes(`team:${params.team}`) ? allow('a member') : deny('access denied'),
      // Members may not read other logical clusters themselves.
      actAs: () => loopback,
    }
  })

export default team
