import { type ApiResource, type ApiSet, apiSetOf, type Host } from '../../../framework/index.ts'
import { exportedResources } from '../../../kcp/index.ts'
import { visibleStorage } from './storage.ts'
import { workspaceVisibility } from './workspaces.ts'

/** The resource `workspaces` of a logical cluster, of which each user sees the own ones; the same object until it changes. */
export function workspaceApis(host: Host): (cluster: string) => ApiSet | undefined {
  const visibility = workspaceVisibility(host)
  const sets = new WeakMap<ApiResource, ApiSet>()
  const { group, version, resource: plural } = exportedResources.workspaces
  return cluster => {
    const resource = host.backend.apis(cluster)?.find(group, version, plural)
    if (resource === undefined) return undefined
    const storage = visibleStorage(resource, visibility)
    const known = sets.get(resource) ?? apiSetOf([{ ...resource, storage, subresources: [] }])
    sets.set(resource, known)
    return known
  }
}
