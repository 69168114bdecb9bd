import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { PeerClient } from '../../../framework/contract/peer.ts'
import type { ClusterName, ObjectKey } from '../../../framework/meta/object.ts'
import { shardAnnotation } from '../../../kcp/annotations.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { logicalClusterName } from '../../../kcp/logicalclusters.ts'
import { resourcePath, resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { clusterScoped, createIfMissing, ifFound } from '../client.ts'
import type { KcpControllerDeps } from '../host.ts'

/** The LogicalCluster of a Workspace, on this shard or on another one. */
interface WorkspaceHome {
  /** The LogicalCluster; read from its shard when this shard does not have it. */
  read(): Promise<LogicalCluster | undefined>
  /** Creates it; returns the existing one otherwise, which may belong to another workspace. */
  found(object: LogicalCluster): Promise<LogicalCluster | undefined>
  remove(): Promise<void>
}

/** Throws an `Error` when the shard is unknown yet: the workspace is retried. */
export function homeOf(deps: KcpControllerDeps, workspace: Workspace, cluster: ClusterName): WorkspaceHome {
  const shard = workspace.metadata.annotations?.[shardAnnotation] ?? deps.shard.name
  if (shard === deps.shard.name) return here(deps, cluster)
  const peer = deps.peers.get(shard)
  if (peer === undefined) throw new Error(`shard ${shard} is not known`)
  return there(deps, cluster, peer)
}

function here({ client, directory }: KcpControllerDeps, cluster: ClusterName): WorkspaceHome {
  const key = clusterScoped(cluster, logicalClusterName)
  const read = () => Promise.resolve(directory.logicalCluster(cluster))
  return {
    read,
    async found(object) {
      const made = await createIfMissing(client, resources.logicalClusters, cluster, object)
      return (made as LogicalCluster | undefined) ?? read()
    },
    remove: async () => void (await ifFound(client.delete(resources.logicalClusters, key))),
  }
}

/** Timeout of requests to another shard, in milliseconds. */
const requestTimeout = 10_000

function there({ directory }: KcpControllerDeps, cluster: ClusterName, peer: PeerClient): WorkspaceHome {
  const all = resourcePath(cluster, resources.logicalClusters)
  const one = resourcePath(cluster, resources.logicalClusters, logicalClusterName)
  const timeout = (): AbortSignal => AbortSignal.timeout(requestTimeout)
  const ask = () => ifFound(peer.get<LogicalCluster>(one, timeout()))
  return {
    read: async () => directory.logicalCluster(cluster) ?? ask(),
    async found(object) {
      const known = await ask()
      return known ?? peer.post<LogicalCluster>(all, object, timeout())
    },
    remove: async () => void (await ifFound(peer.delete(one, timeout()))),
  }
}

/** One Workspace in reconciliation. */
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
