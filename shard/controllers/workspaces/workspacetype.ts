import { isCopy } from '../../../kcp/annotations.ts'
import { isTrue, setConditions, summary } from '../../../kcp/conditions.ts'
import type { WorkspaceType } from '../../../kcp/tenancy.ts'
import { clusterScoped, updateStatus } from '../client.ts'
import { type Controller, createController, keyOf, parseKey } from '../controller.ts'
import type { KcpControllerDeps } from '../host.ts'

const published = 'VirtualWorkspaceURLsReady'

/** A view whose URLs are invalid publishes none. */
const isPublished = ({ status }: WorkspaceType): boolean =>
  ['initializing', 'terminating'].every(view => status?.virtualWorkspaces?.some(({ type }) => type === view))

/** Sets `VirtualWorkspaceURLsReady` of workspace types when both of their views have published their URLs. */
export function workspaceTypeController(deps: KcpControllerDeps): Controller {
  const { workspaceTypes } = deps.tenancy
  const types = deps.informers.for(workspaceTypes)
  const reconcile = async (key: string): Promise<undefined> => {
    const { cluster, name } = parseKey(key)
    const type = types.get(cluster, '', name)?.object as WorkspaceType | undefined
    if (type === undefined || !isPublished(type) || isCopy(type)) return
    await updateStatus<WorkspaceType>(deps.client, workspaceTypes, clusterScoped(cluster, name), current => {
      const own = setConditions(current.status?.conditions, [isTrue(published)])
      return {
        ...current,
        status: { ...current.status, conditions: setConditions(own, [summary(own, [published])]) },
      }
    })
  }
  return createController(
    { name: 'workspacetype', reconcile, sources: [{ informer: types, keys: ({ item }) => [keyOf(item)] }] },
    deps.log,
  )
}
