import type { ViewPlugin } from '../../framework/plugin.ts'

/** Every export that its provider has labelled `catalog=yes`, for everybody who is known: what there is to be bound. */
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
      // What a consumer needs: where it is, and what it offers. Who claims what is said when it is bound.
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
