import type { ClusterName, KubeObject } from '../../framework/object.ts'
import type { Workspace } from '../controllers/objects.ts'

/** Which logical cluster a workspace path leads to (chapter 20, section 1.5). */
export interface WorkspaceTree {
  setWorkspace(parent: ClusterName, name: string, workspace: KubeObject | undefined): void
  /** The first segment has to be a cluster that `exists`; each further one a workspace in the cluster reached so far. */
  resolve(path: string, exists: (cluster: ClusterName) => boolean): ClusterName | undefined
}

export function createWorkspaceTree(): WorkspaceTree {
  const children = new Map<string, ClusterName>()
  const placeOf = (parent: ClusterName, name: string): string => `${parent}/${name}`
  return {
    setWorkspace(parent, name, workspace) {
      const cluster = workspace && clusterOf(workspace)
      if (cluster === undefined) children.delete(placeOf(parent, name))
      else children.set(placeOf(parent, name), cluster)
    },
    resolve(path, exists) {
      if (path.startsWith('system:')) return exists(path) ? path : undefined
      const [first = '', ...names] = path.split(':')
      let cluster: ClusterName | undefined = first
      for (const name of names) {
        if (cluster === undefined || !exists(cluster)) return undefined
        cluster = children.get(placeOf(cluster, name))
      }
      return cluster !== undefined && exists(cluster) ? cluster : undefined
    },
  }
}

/** Workspaces that are still being scheduled are not to be found. */
function clusterOf(object: KubeObject): ClusterName | undefined {
  const { spec, status } = object as Workspace
  return status?.phase === 'Scheduling' || status?.phase === undefined
    ? undefined
    : spec?.cluster || undefined
}
