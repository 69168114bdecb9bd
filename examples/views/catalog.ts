import type { ViewPlugin } from 'oriel/plugin'

/** All exports with the label `catalog=yes`, for all authenticated users. */
const catalog: ViewPlugin = ({
  allow,
  andLabels,
  apiSetOf,
  defineVirtualWorkspace,
  labelEquals,
  loopback,
  viewOf,
}) =>
  defineVirtualWorkspace('catalog', '/services/catalog', ({ backend }) => {
    const exports = backend.apis('*')?.find('apis.kcp.io', 'v1alpha2', 'apiexports')
    if (exports === undefined) throw new Error('there are no exports')
    const listed = labelEquals('catalog', 'yes')
    const storage = viewOf(exports.storage, () => ({
      narrow: query => ({ ...query, labels: andLabels(query.labels, listed) }),
      // Permission claims and status are not shown.
      present: ({ apiVersion, kind, metadata, spec }) => ({
        apiVersion,
        kind,
        metadata,
        spec: { resources: (spec as { resources?: unknown } | undefined)?.resources },
      }),
    }))
    const apis = apiSetOf([{ ...exports, storage, verbs: ['get', 'list', 'watch'], subresources: [] }])
    return {
      apis: () => apis,
      authorize: async ({ user }) =>
        user.groups.includes('system:authenticated')
          ? allow('known')
          : { effect: 'deny', reason: 'access denied' },
      actAs: () => loopback,
    }
  })

export default catalog
