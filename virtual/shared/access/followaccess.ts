import type { Host, ResourceRef } from '../../../framework/index.ts'
import { resources } from '../../../kcp/index.ts'
import { AccessHistory } from './history.ts'

/** The resources that decide about access: RBAC and the phase of the logical cluster. */
const sources: readonly ResourceRef[] = [
  resources.clusterRoles,
  resources.clusterRoleBindings,
  resources.roles,
  resources.roleBindings,
  resources.logicalClusters,
]

/** Follows the changes of permissions in all logical clusters. */
export function followAccess({ informers }: Pick<Host, 'informers'>): AccessHistory {
  const history = new AccessHistory()
  for (const source of sources)
    informers.for(source).onEvent(event => {
      if (event.type !== 'BOOKMARK') history.add(event)
    })
  return history
}
