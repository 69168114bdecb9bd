import type { PeerClient } from '../../framework/contract/peer.ts'
import { shardAnnotation, shardHashAnnotation } from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { shardHash } from '../../kcp/names.ts'
import type { Workspace } from '../../kcp/tenancy.ts'
import { clusterScoped, updateObject } from '../controllers/client.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import { ifThere } from './home.ts'

/** Milliseconds for a request to another shard. */
const longest = 10_000

type Owner = NonNullable<NonNullable<LogicalCluster['spec']>['owner']>

/** Names the shard of a logical cluster in its Workspace, on whichever shard that is: deletions follow the name. */
export async function assignWorkspace(
  deps: KcpControllerDeps,
  { spec }: LogicalCluster,
  shard: string,
): Promise<void> {
  const owner = spec?.owner
  if (owner?.resource !== 'workspaces') return
  const annotations = { [shardAnnotation]: shard, [shardHashAnnotation]: shardHash(shard) }
  if (deps.apis(owner.cluster) !== undefined) return assignHere(deps, owner, annotations)
  for (const peer of deps.peers.values()) if (await assignThere(peer, owner, annotations)) return
}

type Annotations = Readonly<Record<string, string>>

async function assignHere(
  { client, tenancy }: KcpControllerDeps,
  { cluster, name }: Owner,
  annotations: Annotations,
): Promise<void> {
  await updateObject<Workspace>(client, tenancy.workspaces, clusterScoped(cluster, name), current => ({
    ...current,
    metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
  }))
}

async function assignThere(
  peer: PeerClient,
  { cluster, name }: Owner,
  annotations: Annotations,
): Promise<boolean> {
  const path = `/clusters/${cluster}/apis/tenancy.kcp.io/v1alpha1/workspaces/${name}`
  const patched = peer.patch(path, { metadata: { annotations } }, AbortSignal.timeout(longest))
  return (await ifThere({ peer, cluster }, patched)) !== undefined
}
