import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  defineVirtualWorkspace,
  type Host,
  type Informer,
} from '../../framework/index.ts'
import { exportedResources, resources } from '../../kcp/index.ts'
import { workspacesRef } from '../shared/exports/tenancy.ts'
import { followAccess } from '../shared/watching/accesschanges.ts'
import { personal } from './storage.ts'

/** The workspaces that the user can access. See README.md beside this file. */
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

const { group, version, resource: plural } = exportedResources.workspaces

function informerOf({ informers }: Host): Informer | undefined {
  const ref = workspacesRef(informers.for(resources.apiExports))
  return ref && informers.for(ref)
}
