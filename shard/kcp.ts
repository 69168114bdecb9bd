import type { ReviewElsewhere } from '../framework/authn/index.ts'
import type { CacheServer, PeerClient } from '../framework/contract/peer.ts'
import type { Outbound } from '../framework/contract/upstream.ts'
import type { OtherShards } from '../framework/contract/workspace.ts'
import type { ClusterName } from '../framework/meta/object.ts'
import { validateAPIResourceSchema } from '../openapi/apiresourceschema.ts'
import { kcpAdmission } from './admission/kcp/index.ts'
import { type DiskSpace, noQuota, type QuotaLimits } from './admission/quota/quota.ts'
import type { Amounts } from './admission/quota/tenants.ts'
import { Usage } from './admission/quota/usage.ts'
import { claimsDecorator } from './claims/index.ts'
import { bindingSources, createLocks } from './controllers/bindingdependencies.ts'
import type { Controller } from './controllers/controller.ts'
import { apiBindingController } from './controllers/exports/apibinding.ts'
import { apiBindingDeletionController } from './controllers/exports/apibindingdeletion.ts'
import { apiExportController } from './controllers/exports/apiexport.ts'
import { boundSchemaController } from './controllers/exports/boundschemas.ts'
import { cachedResourceController } from './controllers/exports/cachedresource.ts'
import { cachedResourceSliceController } from './controllers/exports/cachedresourceslice.ts'
import { endpointSliceController } from './controllers/exports/endpointslice.ts'
import { partitionSetController } from './controllers/exports/partitionset.ts'
import type {
  KcpControllerDeps,
  ShardHost,
  ShardIdentity,
  ShardOptions,
  TenancyResources,
} from './controllers/host.ts'
import { namespaceDefaultsController } from './controllers/kubernetes/namespace.ts'
import { mountController } from './controllers/mounts/mount.ts'
import { logicalClusterController } from './controllers/workspaces/logicalcluster.ts'
import { orphanedContentController } from './controllers/workspaces/orphanedcontent.ts'
import { workspaceController } from './controllers/workspaces/workspace.ts'
import { workspaceTypeController } from './controllers/workspaces/workspacetype.ts'
import { homeWorkspace } from './homes.ts'
import { migrationController } from './migration/controller.ts'
import { type CacheServerDeps, cacheServerController } from './peers/cacheserver.ts'
import { peersController, type Sharding } from './peers/follow.ts'
import { otherShards } from './peers/otheraccess.ts'
import { otherTokens } from './peers/othertokens.ts'
import { PublishedCopies } from './peers/publishedcopies.ts'
import { sliceKinds, sliceUrlsController } from './peers/sliceurls.ts'
import { type ClusterDirectory, createDirectory } from './tenancy/directory.ts'

export { type BootstrapOptions, bootstrap } from './bootstrap/bootstrap.ts'
export type { ShardAddresses } from './bootstrap/root.ts'
export type { TenancyResources } from './controllers/host.ts'
export type { Sharding } from './peers/follow.ts'
export { HasOwnRoot, type JoinOptions, joinRoot } from './peers/join.ts'

export interface KcpOptions {
  /** What `bootstrap` returned. */
  readonly tenancy: TenancyResources
  readonly shard: ShardIdentity
  /** PEM: the CA with which clients in workspaces verify the server. */
  readonly rootCA: string
  /** Absent with a single shard. */
  readonly sharding?: Sharding
  /** Why requests for mounts are not sent to a URL; undefined when they are. */
  readonly mountRefusal?: Outbound['refusalOf']
  readonly cacheServer?: CacheServer
  /** No limit when absent. */
  readonly quota?: QuotaLimits
  /** The disk of the store; absent: there is always room. */
  readonly disk?: DiskSpace
}

type CachedHost = Pick<ShardHost, 'backend' | 'informers' | 'cache'>

interface KcpParts
  extends Required<Pick<ShardOptions, 'decorate' | 'admission' | 'controllers' | 'computed'>>,
    Pick<ShardOptions, 'peers' | 'cacheServer'> {
  /** What all logical clusters have stored: a live value. */
  stored(host: CachedHost): Readonly<Amounts>
  otherShards(host: Pick<ShardHost, 'informers'>): OtherShards
  /** The review of tokens of service accounts of other shards. */
  otherTokens(host: Pick<ShardHost, 'informers'>): (cluster: ClusterName) => ReviewElsewhere | undefined
}

/** The options of `openShard` that make a shard of kcp; `bootstrap` has to fill the store first. */
export function kcpParts(options: KcpOptions): KcpParts {
  const peers = new Map<string, PeerClient>()
  const directoryOf = ({ backend, informers }: CachedHost): ClusterDirectory =>
    createDirectory({
      informers,
      resolve: path => backend.resolve(path),
      workspaceTypes: options.tenancy.workspaceTypes,
      shards: options.tenancy.shards,
      shard: options.shard.name,
      peers,
    })
  let usage: Usage | undefined
  const usageOf = (host: CachedHost): Usage =>
    (usage ??= new Usage({ cache: host.cache, directory: directoryOf(host) }))
  return {
    ...(options.sharding && { peers }),
    ...(options.cacheServer && { cacheServer: options.cacheServer }),
    stored: host => usageOf(host).all,
    otherShards: host => otherShards(host, peers),
    otherTokens: host => otherTokens(host, peers),
    decorate: claimsDecorator,
    admission: host =>
      kcpAdmission({
        directory: directoryOf(host),
        authorizer: host.backend.authorizer,
        schemaErrors: validateAPIResourceSchema,
        cache: host.cache,
        usage: usageOf(host),
        apis: cluster => host.backend.apis(cluster),
        limits: options.quota ?? noQuota,
        disk: options.disk ?? { shortage: undefined },
      }),
    controllers: host => kcpControllers(host, { ...options, peers, directory: directoryOf(host) }),
    computed: host => {
      const homes = { host, directory: directoryOf(host), shard: options.shard.name }
      return { 'workspaces.tenancy.kcp.io': (ctx, key) => homeWorkspace(homes, ctx, key) }
    },
  }
}

interface Parts extends KcpOptions {
  readonly peers: Map<string, PeerClient>
  readonly directory: ClusterDirectory
}

/** What the copies in a cache server need. */
const copiesIn = (deps: Omit<CacheServerDeps, 'published'>): CacheServerDeps => ({
  ...deps,
  published: new PublishedCopies(deps),
})

function controllerDeps(
  { backend, client, content, informers, log }: ShardHost,
  { sharding, shard, cacheServer: _cacheServer, ...given }: Parts,
): KcpControllerDeps {
  return {
    client,
    content,
    informers,
    log,
    shard,
    ...given,
    ...(sharding?.connectViews && { connectViews: sharding.connectViews }),
    sources: bindingSources(informers),
    locks: createLocks(),
    apis: cluster => backend.apis(cluster),
    place: path => backend.place?.(path),
  }
}

/** kcp's controllers; the ones of plain Kubernetes are not among them. */
function kcpControllers(host: ShardHost, parts: Parts): readonly Controller[] {
  const { sharding, cacheServer: caching } = parts
  const deps = controllerDeps(host, parts)
  const migrations = migrationController(deps)
  const cacheServer = caching?.own
  const copied = cacheServer && copiesIn({ ...deps, cacheServer, migrations: migrations.resource })
  return [
    ...(sharding === undefined
      ? []
      : [
          peersController({ ...deps, ...parts, sharding, also: migrations.follow }),
          ...sliceKinds.map(kind => sliceUrlsController(deps, kind)),
        ]),
    migrations,
    ...(copied === undefined ? [] : [cacheServerController(copied)]),
    workspaceController(deps),
    mountController(deps),
    logicalClusterController(deps),
    orphanedContentController(host),
    workspaceTypeController(deps),
    apiExportController(deps),
    apiBindingController(deps),
    apiBindingDeletionController(deps),
    boundSchemaController(host),
    endpointSliceController(deps),
    partitionSetController(deps),
    cachedResourceController({ ...deps, ...(copied && { copies: copied.published }) }),
    cachedResourceSliceController(deps),
    namespaceDefaultsController(deps),
  ]
}
