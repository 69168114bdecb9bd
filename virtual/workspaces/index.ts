import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  defineVirtualWorkspace,
  type Host,
  type Informer,
} from '../../framework/index.ts'
import { followAccess } from './changes.ts'
import { personal } from './storage.ts'

/** The workspaces that whoever asks may enter. See README.md beside this file. */
export const workspaces = defineVirtualWorkspace('workspaces', '/services/workspaces', host => {
  const options = { host, changes: followAccess(host), workspaces: () => informerOf(host) }
  const sets = new WeakMap<ApiResource, ApiSet>()
  return {
    apis(_params, cluster) {
      const resource = host.backend.apis(cluster === '*' ? 'root' : cluster)?.find(group, version, plural)
      if (resource === undefined) return undefined
      const known = sets.get(resource) ?? apiSetOf([view(resource)])
      sets.set(resource, known)
      return known
    },
  }

  function view(resource: ApiResource): ApiResource {
    return { ...resource, storage: personal(resource.storage, options), subresources: [] }
  }
})

const [group, version, plural] = ['tenancy.kcp.io', 'v1alpha1', 'workspaces'] as const
const exportsRef = { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apiexports' }

/** Workspaces are stored under the identity of root's export. */
function informerOf({ informers }: Host): Informer | undefined {
  const found = informers.for(exportsRef).get('root', '', group)?.object
  const identity = (found as { status?: { identityHash?: string } } | undefined)?.status?.identityHash
  return identity === undefined ? undefined : informers.for({ group, version, resource: plural, identity })
}
