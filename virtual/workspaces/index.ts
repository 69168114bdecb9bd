import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type ClusterScope,
  defineVirtualWorkspace,
  type Host,
} from '../../framework/index.ts'
import { exportedResources, resources } from '../../kcp/index.ts'
import { apiResourcesOf, kcpKinds } from '../../openapi/index.ts'
import { visibleStorage } from '../shared/access/storage.ts'
import { workspaceVisibility } from '../shared/access/workspaces.ts'
import { workspacesRef } from '../shared/exports/tenancy.ts'

/** The workspaces that the user can access. See README.md beside this file. */
export const workspaces = defineVirtualWorkspace('workspaces', '/services/workspaces', host => {
  const visibility = workspaceVisibility(host)
  const served = servedBy(host)
  const sets = new WeakMap<ApiResource, ApiSet>()
  return {
    apis(_params, cluster) {
      const resource = served(cluster)
      if (resource === undefined) return undefined
      const storage = visibleStorage(resource, visibility)
      const set = sets.get(resource) ?? apiSetOf([{ ...resource, storage, subresources: [] }])
      sets.set(resource, set)
      return set
    },
  }
})

const { group, version, resource: plural } = exportedResources.workspaces

/** Workspaces as a logical cluster serves them; in front of another server, which has the APIs, as kcp defines them. */
function servedBy({ backend, informers }: Host): (cluster: ClusterScope) => ApiResource | undefined {
  const made = new Map<string, ApiResource | undefined>()
  const defined = (identity: string | undefined): ApiResource | undefined => {
    const ref = { group, version, resource: plural, ...(identity && { identity }) }
    const key = identity ?? ''
    if (!made.has(key))
      made.set(
        key,
        definedAs(() => backend.storage(ref)),
      )
    return made.get(key)
  }
  return cluster => {
    const apis = backend.apis(cluster === '*' ? 'root' : cluster)
    if (apis !== undefined) return apis.find(group, version, plural)
    const identity = workspacesRef(informers.for(resources.apiExports))?.identity
    if (cluster === '*') return identity === undefined ? undefined : defined(identity)
    return backend.resolve(cluster) === undefined ? undefined : defined(undefined)
  }
}

function definedAs(storage: () => ApiResource['storage']): ApiResource | undefined {
  const kind = kcpKinds.find(each => each.group === group && each.names.plural === plural)
  const served = kind === undefined ? [] : apiResourcesOf(kind, { storage, custom: true })
  return served.find(each => each.version === version)
}
