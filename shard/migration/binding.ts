import type { ResourceRef } from '../../framework/contract/backend.ts'
import { migrationGroup } from '../../kcp/apigroups.ts'
import type { APIExport } from '../../kcp/apis.ts'
import { rootCluster, shardCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import { bindingManifest } from '../bootstrap/exports.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import { StoreConflict } from '../store/store.ts'

/**
 * Binds the export of `root` in `system:shard` (kcp `config/shard`): other shards follow the migrations of this one before any
 * of its workspaces binds them.
 */
export async function bindMigrations(
  { content, informers }: KcpControllerDeps,
  { identity = '' }: ResourceRef,
): Promise<void> {
  if (informers.for(resources.apiBindings).get(shardCluster, '', migrationGroup) !== undefined) return
  const exported = informers.for(resources.apiExports).get(rootCluster, '', migrationGroup)
    ?.object as APIExport
  const names = new Set(exported.spec?.resources?.map(({ schema }) => schema))
  const schemas = informers
    .for(resources.apiResourceSchemas)
    .list(rootCluster)
    .filter(({ key }) => names.has(key.name))
    .map(({ object }) => ({ cluster: rootCluster, resource: resources.apiResourceSchemas, object }))
  const binding = bindingManifest({ name: migrationGroup }, schemas, identity)
  await content.add([{ ...binding, cluster: shardCluster }]).catch(unlessThere)
}

function unlessThere(error: unknown): void {
  if (!(error instanceof StoreConflict)) throw error
}
