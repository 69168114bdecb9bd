import type { KindDefinition } from '../definition.ts'
import { workspaceAuthenticationConfiguration } from './authentication.ts'
import { apiBinding } from './bindings.ts'
import { clusterCachedResource, clusterCachedResourceEndpointSlice } from './cache.ts'
import { logicalCluster, shard } from './core.ts'
import { apiExport, apiExportEndpointSlice } from './exports.ts'
import { apiConversion, apiResourceSchema } from './schemas.ts'
import { partition, partitionSet } from './topology.ts'
import { workspace, workspaceType } from './workspaces.ts'

/** The kinds of kcp (chapter 20, section 2), without the cache server's own and migration.kcp.io. */
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
