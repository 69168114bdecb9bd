import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { modified } from '../../framework/meta/errors.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { hasCode } from '../../framework/meta/statuschecks.ts'
import { isCopy } from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import type { LogicalClusterMigration, MigrationStatus } from '../../kcp/migration.ts'
import { resourcePath, resources } from '../../kcp/resources.ts'
import { type ControllerClient, clusterScoped } from '../controllers/client.ts'
import { parseKey } from '../controllers/controller.ts'

/** What a step changes: one of both. */
export type MigrationChange =
  | { readonly finalizers: readonly string[] }
  | { readonly status: MigrationStatus }

/** The shard that stores a migration: this one or another. */
export interface MigrationHome {
  /** The current object; undefined when there is none. */
  read(key: string): Promise<LogicalClusterMigration | undefined>
  /** Throws 409 when the object has changed since it was read. */
  write(seen: LogicalClusterMigration, key: string, change: MigrationChange): Promise<void>
}

/** Milliseconds for a request to another shard. */
const longest = 10_000

/**
 * `undefined` for an object, or a logical cluster, that the shard does not have. Throws for what the shard has and does not show:
 * it answers 403 for every request to an inactive logical cluster, as for one that does not exist.
 */
export async function ifThere<T>(
  { peer, cluster }: { readonly peer: PeerClient; readonly cluster: ClusterName },
  asked: Promise<T>,
): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasCode(error, 404)) return undefined
    if (hasCode(error, 403) && !(await hasCluster(peer, cluster))) return undefined
    throw error
  }
}

/** Whether a shard has a logical cluster that is no copy. */
export async function hasCluster(peer: PeerClient, cluster: ClusterName): Promise<boolean> {
  const found = await logicalClusterAt(peer, cluster)
  return found !== undefined && !isCopy(found)
}

/** What a shard has of a LogicalCluster, also of an inactive one or of one that moves. */
export async function logicalClusterAt(
  peer: PeerClient,
  cluster: ClusterName,
): Promise<LogicalCluster | undefined> {
  const path = resourcePath(cluster, resources.logicalClusters, logicalClusterName)
  try {
    return await peer.get<LogicalCluster>(path, AbortSignal.timeout(longest))
  } catch (error) {
    if (hasCode(error, 404, 403)) return undefined
    throw error
  }
}

/** Migrations of another shard. */
export function homeThere(peer: PeerClient, migrations: ResourceRef): MigrationHome {
  const pathOf = (key: string): string => {
    const { cluster, name } = parseKey(key)
    return resourcePath(cluster, migrations, name)
  }
  return {
    read: key => {
      const { cluster } = parseKey(key)
      const asked = peer.get<LogicalClusterMigration>(pathOf(key), AbortSignal.timeout(longest))
      return ifThere({ peer, cluster }, asked)
    },
    async write({ metadata: { resourceVersion } }, key, change) {
      const signal = AbortSignal.timeout(longest)
      if ('status' in change) {
        const { status } = change
        await peer.patch(`${pathOf(key)}/status`, { metadata: { resourceVersion }, status }, signal)
      } else {
        const { finalizers } = change
        await peer.patch(pathOf(key), { metadata: { resourceVersion, finalizers } }, signal)
      }
    },
  }
}

/** Migrations of this shard. */
export function homeHere(
  client: ControllerClient,
  resource: ResourceRef,
  find: (cluster: string, name: string) => KubeObject | undefined,
): MigrationHome {
  return {
    async read(key) {
      const { cluster, name } = parseKey(key)
      return find(cluster, name) as LogicalClusterMigration | undefined
    },
    async write({ metadata: { resourceVersion } }, key, change) {
      const { cluster, name } = parseKey(key)
      const ref = 'status' in change ? { ...resource, subresource: 'status' } : resource
      await client.update(ref, clusterScoped(cluster, name), current => {
        if (current.metadata.resourceVersion !== resourceVersion)
          throw modified({ group: resource.group, resource: resource.resource, name })
        if ('status' in change) return { ...current, status: change.status }
        return { ...current, metadata: { ...current.metadata, finalizers: change.finalizers } }
      })
    },
  }
}
