import type { PeerClient } from '../../framework/contract/peer.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { shardAnnotation, shardHashAnnotation } from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { shardHash } from '../../kcp/names.ts'
import { exportedResources, resourcePath } from '../../kcp/resources.ts'
import type { Workspace } from '../../kcp/tenancy.ts'
import { clusterScoped, updateObject } from '../controllers/client.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import { ifThere } from './home.ts'

/** Milliseconds for a request to another shard. */
const longest = 10_000

type Owner = NonNullable<NonNullable<LogicalCluster['spec']>['owner']>

/** A logical cluster and its LogicalCluster. */
interface Assigned {
  readonly cluster: ClusterName
  readonly object: LogicalCluster
}

/**
 * Names the shard of a logical cluster in its Workspace, on whichever shard that is: deletions follow the name. A Workspace that has
 * another logical cluster is not changed, since another shard may have written the owner.
 */
export async function assignWorkspace(
  deps: KcpControllerDeps,
  { cluster, object: { spec } }: Assigned,
  shard: string,
): Promise<void> {
  const owner = spec?.owner
  if (owner?.resource !== 'workspaces') return
  const annotations = { [shardAnnotation]: shard, [shardHashAnnotation]: shardHash(shard) }
  const assignment = { cluster, owner, annotations }
  if (deps.apis(owner.cluster) !== undefined) return assignHere(deps, assignment)
  for (const peer of deps.peers.values()) if (await assignThere(peer, assignment)) return
}

interface Assignment {
  readonly cluster: ClusterName
  readonly owner: Owner
  readonly annotations: Readonly<Record<string, string>>
}

async function assignHere(
  { client, tenancy }: KcpControllerDeps,
  { cluster, owner, annotations }: Assignment,
): Promise<void> {
  const key = clusterScoped(owner.cluster, owner.name)
  await updateObject<Workspace>(client, tenancy.workspaces, key, current => {
    if (current.spec?.cluster !== cluster) return current
    const { metadata } = current
    return { ...current, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }
  })
}

/** Whether the shard has the Workspace. */
async function assignThere(peer: PeerClient, { cluster, owner, annotations }: Assignment): Promise<boolean> {
  const path = resourcePath(owner.cluster, exportedResources.workspaces, owner.name)
  const signal = AbortSignal.timeout(longest)
  const asked = { peer, cluster: owner.cluster }
  const found = await ifThere(asked, peer.get<Workspace>(path, signal))
  if (found?.spec?.cluster !== cluster) return found !== undefined
  return (await ifThere(asked, peer.patch(path, { metadata: { annotations } }, signal))) !== undefined
}
