import type { ViewPlugin } from 'oriel/plugin'

/** Secrets with their keys and without their values, for users with the verb `inventory` on secrets. */
const redacted: ViewPlugin = ({ apiSetOf, defineVirtualWorkspace, loopback, viewOf }) =>
  defineVirtualWorkspace('redacted', '/services/redacted', ({ backend }) => {
    const secrets = backend.apis('*')?.find('', 'v1', 'secrets')
    if (secrets === undefined) throw new Error('there are no secrets')
    const storage = viewOf(secrets.storage, () => ({
      present: ({ apiVersion, kind, metadata, type, data = {} }) => {
        // Annotations and managedFields may contain values.
        const { managedFields: _, annotations, ...rest } = metadata
        const cluster = annotations?.['kcp.io/cluster'] ?? ''
        const keys = Object.keys(data as object).map(key => [key, ''])
        const shown = { ...rest, annotations: { 'kcp.io/cluster': cluster } }
        return { apiVersion, kind, metadata: shown, type, data: Object.fromEntries(keys) }
      },
    }))
    const apis = apiSetOf([{ ...secrets, storage, verbs: ['get', 'list', 'watch'] }])
    return {
      apis: () => apis,
      authorize: ({ cluster, user, signal }) => {
        const resource = {
          group: '',
          version: 'v1',
          resource: 'secrets',
          subresource: '',
          namespace: '',
          name: '',
        }
        return backend.authorizer.authorize(user, { verb: 'inventory', cluster, resource }, signal)
      },
      actAs: () => loopback,
    }
  })

export default redacted
