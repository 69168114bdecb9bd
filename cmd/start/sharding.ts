import type { Logger } from '../../framework/contract/log.ts'
import type { CacheServer } from '../../framework/contract/peer.ts'
import type { ServerCredentials } from '../../framework/net/serveraccess.ts'
import {
  bootstrap,
  HasOwnRoot,
  joinRoot,
  type ShardAddresses,
  type Sharding,
  type TenancyResources,
} from '../../shard/kcp.ts'
import type { Store } from '../../shard/store/store.ts'
import { readFlagPair } from '../files/files.ts'
import type { FileWatchEnding } from '../files/follow.ts'
import { followCredentials, openCredentials, readServerAccess } from '../files/kubeconfigfile.ts'
import { StartError } from '../files/starterror.ts'
import type { ShardFlags } from '../flags/shard.ts'

/** The addresses of this shard, and its connections to other shards. */
export interface PreparedSharding {
  readonly addresses: ShardAddresses
  /** Absent in an installation with one shard. */
  readonly sharding?: Sharding
  /** The cache server of --cache-kubeconfig. */
  readonly cacheServer?: CacheServer
}

const rootShard = 'root'
const peerFlag = '--logical-cluster-admin-kubeconfig'
const viewFlag = '--external-logical-cluster-admin-kubeconfig'

/** `url`: the default base URL. Throws `StartError` on contradictory flags. */
export async function prepareSharding(
  flags: ShardFlags,
  url: string,
  ending: FileWatchEnding,
): Promise<PreparedSharding> {
  const { shardName: name, rootShardKubeconfigFile: rootFile, logicalClusterAdminKubeconfig } = flags
  if (rootFile === undefined && name !== rootShard)
    throw new StartError(
      `Shard ${name} is not the root shard: add --root-shard-kubeconfig-file, or use --shard-name root.`,
    )
  if (rootFile !== undefined && name === rootShard)
    throw new StartError(
      'Shard "root" cannot join another shard: choose another --shard-name, or remove --root-shard-kubeconfig-file.',
    )
  const baseURL = flags.shardBaseUrl ?? url
  const addresses = {
    name,
    baseURL,
    externalURL: flags.shardExternalUrl ?? baseURL,
    virtualWorkspaceURL: flags.shardVirtualWorkspaceUrl ?? baseURL,
  }
  const file = logicalClusterAdminKubeconfig ?? rootFile
  const cache = await cacheServerOf(flags, ending)
  if (file === undefined) return { addresses, ...cache }
  const root = rootFile === undefined ? undefined : await rootAddress(rootFile)
  const peers = await connections(flags, file, ending)
  return { addresses, ...cache, sharding: { own: addresses, ...peers, ...(root && { root }) } }
}

/** The connections to other shards: `file` has the credentials. */
async function connections(
  flags: ShardFlags,
  file: string,
  ending: FileWatchEnding,
): Promise<Pick<Sharding, 'connect' | 'connectViews'>> {
  const { createShardClient } = await import('../../proxy/shardclient.ts')
  const following = (flag: string, read: () => Promise<ServerCredentials>) =>
    followCredentials(flag, read, ending)
  const peers = await following(peerFlag, () => peerCredentials(flags, file))
  const { externalLogicalClusterAdminKubeconfig: viewFile } = flags
  const views =
    viewFile === undefined ? undefined : await following(viewFlag, () => readServerAccess(viewFlag, viewFile))
  return {
    connect: server => createShardClient({ server }, peers),
    ...(views && { connectViews: (server: string) => createShardClient({ server }, views) }),
  }
}

async function cacheServerOf(
  { cacheKubeconfig: file, shardName }: ShardFlags,
  ending: FileWatchEnding,
): Promise<Pick<PreparedSharding, 'cacheServer'>> {
  if (file === undefined) return {}
  const { createShardClient } = await import('../../proxy/shardclient.ts')
  const flag = '--cache-kubeconfig'
  const { access, current, follow } = await openCredentials(flag, () => readServerAccess(flag, file))
  follow(ending)
  const { published } = createShardClient(access, current)
  const own = createShardClient({ server: `${access.server}/services/cache/shards/${shardName}` }, current)
  return { cacheServer: { published, own } }
}

const rootAddress = async (file: string) => ({
  name: rootShard,
  baseURL: (await readServerAccess('--root-shard-kubeconfig-file', file)).server,
})

/** The credentials for requests to other shards: a client certificate replaces those of the kubeconfig. */
async function peerCredentials(flags: ShardFlags, file: string): Promise<ServerCredentials> {
  const access = await readServerAccess(peerFlag, file)
  const pair = await readFlagPair(
    { flag: '--shard-client-cert-file', path: flags.shardClientCertFile },
    { flag: '--shard-client-key-file', path: flags.shardClientKeyFile },
  )
  if (pair === undefined) return access
  const [cert, key] = pair
  const { ca, insecure } = access
  return { cert, key, ...(ca !== undefined && { ca }), ...(insecure && { insecure }) }
}

export interface StoreSetup {
  readonly store: Store
  /** The groups whose users may have a home workspace; absent: all authenticated users. */
  readonly homeCreators?: readonly string[]
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Creates the initial objects of a store: a root workspace, or the membership in the tree of another shard. */
export async function fill(
  { store, homeCreators, log, signal }: StoreSetup,
  { addresses, sharding }: PreparedSharding,
): Promise<TenancyResources> {
  if (sharding?.root === undefined)
    return bootstrap({ store, shard: addresses, ...(homeCreators && { homeCreators }) })
  const root = sharding.connect(sharding.root.baseURL)
  try {
    return await joinRoot({ store, root, origin: sharding.root.name, log, signal })
  } catch (error) {
    if (!(error instanceof HasOwnRoot)) throw error
    throw new StartError(
      'The store already contains a root workspace: start with an empty --store to join another shard.',
    )
  } finally {
    await root.close()
  }
}
