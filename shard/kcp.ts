import { validateAPIResourceSchema } from '../openapi/apiresourceschema.ts'
import { kcpAdmission } from './admission/kcp/index.ts'
import { claimsDecorator } from './claims/decorator.ts'
import { apiBindingController } from './controllers/apibinding.ts'
import { apiBindingDeletionController } from './controllers/apibindingdeletion.ts'
import { apiExportController } from './controllers/apiexport.ts'
import type { Controller } from './controllers/controller.ts'
import type { KcpControllerDeps, ShardIdentity, TenancyResources } from './controllers/deps.ts'
import { endpointSliceController } from './controllers/endpointslice.ts'
import { leftoversController } from './controllers/leftovers.ts'
import { logicalClusterController } from './controllers/logicalcluster.ts'
import { mountController } from './controllers/mount.ts'
import { namespaceDefaultsController } from './controllers/namespacedefaults.ts'
import { workspaceController } from './controllers/workspace.ts'
import { workspaceTypeController } from './controllers/workspacetype.ts'
import { createDirectory, type Directory } from './directory.ts'
import { homeWorkspace } from './homes.ts'
import type { ShardHost, ShardOptions } from './options.ts'

export { type BootstrapOptions, bootstrap } from './bootstrap/bootstrap.ts'
export type { ShardAddresses } from './bootstrap/root.ts'
export type { TenancyResources } from './controllers/deps.ts'

export interface KcpOptions {
  /** What `bootstrap` returned. */
  readonly tenancy: TenancyResources
  readonly shard: ShardIdentity
  /** PEM: what clients inside workspaces verify the server by. */
  readonly rootCA: string
  /** How many objects there may be in each logical cluster but root; none when absent. */
  readonly objectLimit?: number
}

/** What makes a shard kcp's: to be spread into the options of `openShard`, after `bootstrap` has filled its store. */
export const kcpParts = (
  options: KcpOptions,
): Required<Pick<ShardOptions, 'decorate' | 'admission' | 'controllers' | 'computed'>> => ({
  decorate: claimsDecorator,
  admission: host =>
    kcpAdmission({
      directory: directoryOf(host, options),
      authorizer: host.backend.authorizer,
      schemaErrors: validateAPIResourceSchema,
      cache: host.cache,
      limit: options.objectLimit ?? 0,
    }),
  controllers: host => kcpControllers(host, options),
  computed: host => {
    const homes = { host, directory: directoryOf(host, options), shard: options.shard.name }
    return { 'workspaces.tenancy.kcp.io': (ctx, key) => homeWorkspace(homes, ctx, key) }
  },
})

const directoryOf = ({ backend, informers }: ShardHost, { tenancy, shard }: KcpOptions): Directory =>
  createDirectory({
    informers,
    resolve: path => backend.resolve(path),
    workspaceTypes: tenancy.workspaceTypes,
    shards: tenancy.shards,
    shard: shard.name,
  })

/** kcp's controllers; the ones of plain Kubernetes are not among them. */
export function kcpControllers(host: ShardHost, options: KcpOptions): readonly Controller[] {
  const { backend, client, content, informers, log } = host
  const deps: KcpControllerDeps = {
    client,
    content,
    informers,
    log,
    ...options,
    directory: directoryOf(host, options),
    apis: cluster => backend.apis(cluster),
  }
  return [
    workspaceController(deps),
    mountController(deps),
    logicalClusterController(deps),
    leftoversController(host),
    workspaceTypeController(deps),
    apiExportController(deps),
    apiBindingController(deps),
    apiBindingDeletionController(deps),
    endpointSliceController(deps),
    namespaceDefaultsController(deps),
  ]
}
