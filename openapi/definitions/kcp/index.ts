import type { KindDefinition } from '../definition.ts'
import { workspaceAuthenticationConfiguration } from './authentication.ts'
import { apiBinding } from './bindings.ts'
import { clusterCachedResource, clusterCachedResourceEndpointSlice } from './cache.ts'
import { logicalCluster, shard } from './core.ts'
import { apiExport, apiExportEndpointSlice } from './exports.ts'
import { logicalClusterMigration } from './migration.ts'
import { apiConversion, apiResourceSchema } from './schemas.ts'
import { partition, partitionSet } from './topology.ts'
import { workspace, workspaceType } from './workspaces.ts'

/** The kinds of kcp (`config/crds`), without LogicalClusterDump, of which no object is stored, and those of the cache server. */
export const kcpKinds: readonly KindDefinition[] = [
  apiBinding,
  apiConversion,
  apiExport,
  apiExportEndpointSlice,
  apiResourceSchema,
  clusterCachedResource,
  clusterCachedResourceEndpointSlice,
  logicalCluster,
  logicalClusterMigration,
  shard,
  workspace,
  workspaceAuthenticationConfiguration,
  workspaceType,
  partition,
  partitionSet,
]
