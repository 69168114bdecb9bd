import type { ViewPlugin } from 'oriel/plugin'

/** The ConfigMaps of all logical clusters with the label of a team, read-only, for the members of the team. */
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
      // Members have no permissions in the logical clusters, so the view uses its own.
      actAs: () => loopback,
    }
  })

export default team
