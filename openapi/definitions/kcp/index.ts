import type { KindDefinition } from '../definition.ts'
import { workspaceAuthenticationConfiguration } from './authentication.ts'
import { apiBinding } from './bindings.ts'
import { clusterCachedResource, clusterCachedResourceEndpointSlice } from './cache.ts'
import { logicalCluster, shard } from './core.ts'
import { apiExport, apiExportEndpointSlice } from './exports.ts'
import { apiConversion, apiResourceSchema } from './schemas.ts'
import { partition, partitionSet } from './topology.ts'
import { workspace, workspaceType } from './workspaces.ts'

/** The kinds of kcp (`config/crds`), without those of migration.kcp.io and of the cache server. */
export const kcpKinds: readonly KindDefinition[] = [
  apiBinding,
  apiConversion,
  apiExport,
  apiExportEndpointSlice,
  apiResourceSchema,
  clusterCachedResource,
  clusterCachedResourceEndpointSlice,
  logicalCluster,
  shard,
  workspace,
  workspaceAuthenticationConfiguration,
  workspaceType,
  partition,
  partitionSet,
]
