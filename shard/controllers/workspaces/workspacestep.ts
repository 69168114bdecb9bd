import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { ClusterName, ObjectKey } from '../../../framework/meta/object.ts'
import { clusterScoped } from '../client.ts'
import type { KcpControllerDeps } from '../deps.ts'

/** One workspace on its way. */
export interface WorkspaceStep {
  readonly deps: KcpControllerDeps
  readonly parent: ClusterName
  readonly name: string
}

/** The workspace object itself. */
export const target = ({ deps, parent, name }: WorkspaceStep): [ResourceRef, ObjectKey] => [
  deps.tenancy.workspaces,
  clusterScoped(parent, name),
]
