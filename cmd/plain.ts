import { pathPattern } from '../framework/path.ts'
import type { VirtualWorkspace, WorkspaceFactory } from '../framework/workspace.ts'

/** The view with no filter: `/clusters/…`, everything that a logical cluster serves. */
export const plain: WorkspaceFactory = ({ backend }): VirtualWorkspace => ({
  name: '',
  path: pathPattern(''),
  apis: (_params, cluster) => backend.apis(cluster),
})
