import type { Logger } from '../../framework/contract/log.ts'
import {
  bootstrap,
  HasOwnRoot,
  joinRoot,
  type ShardAddresses,
  type Sharding,
  type TenancyResources,
} from '../../shard/kcp.ts'
import type { Store } from '../../shard/store/store.ts'
import { readServerAccess } from '../files/kubeconfigfile.ts'
import { StartError } from '../files/starterror.ts'
import type { ShardFlags } from '../flags/shard.ts'

/** Which shard this is, and how it reaches the others. */
export interface PreparedSharding {
  readonly addresses: ShardAddresses
  /** Absent where there is but one shard. */
  readonly sharding?: Sharding
}

const rootShard = 'root'

/** `url`: how the server is reached where the flags do not say otherwise. Throws `StartError` on flags that contradict. */
export async function prepareSharding(flags: ShardFlags, url: string): Promise<PreparedSharding> {
  const { shardName: name, rootShardKubeconfigFile: rootFile, logicalClusterAdminKubeconfig } = flags
  if (rootFile === undefined && name !== rootShard)
    throw new StartError(`The shard ${name} needs --root-shard-kubeconfig-file: only "root" has a root.`)
  if (rootFile !== undefined && name === rootShard)
    throw new StartError('Give another --shard-name: "root" is the shard that others join.')
  const baseURL = flags.shardBaseUrl ?? url
  const addresses = {
    name,
    baseURL,
    externalURL: flags.shardExternalUrl ?? baseURL,
    virtualWorkspaceURL: flags.shardVirtualWorkspaceUrl ?? baseURL,
  }
  const file = logicalClusterAdminKubeconfig ?? rootFile
  if (file === undefined) return { addresses }
  const { createShardClient } = await import('../../proxy/shardclient.ts')
  const credentials = await readServerAccess('--logical-cluster-admin-kubeconfig', file)
  const root = rootFile === undefined ? undefined : await rootAddress(rootFile)
  return {
    addresses,
    sharding: {
      own: addresses,
      connect: baseURL => createShardClient({ ...credentials, server: baseURL }),
      ...(root && { root }),
    },
  }
}

const rootAddress = async (file: string) => ({
  name: rootShard,
  baseURL: (await readServerAccess('--root-shard-kubeconfig-file', file)).server,
})

export interface Founding {
  readonly store: Store
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Fills a store with what its shard cannot be without: a root of its own, or a place in another shard's tree. */
export async function fill(
  { store, log, signal }: Founding,
  { addresses, sharding }: PreparedSharding,
): Promise<TenancyResources> {
  if (sharding?.root === undefined) return bootstrap({ store, shard: addresses })
  const root = sharding.connect(sharding.root.baseURL)
  try {
    return await joinRoot({ store, root, origin: sharding.root.name, log, signal })
  } catch (error) {
    if (!(error instanceof HasOwnRoot)) throw error
    throw new StartError('The store has a root of its own: a shard joins another with an empty one.')
  } finally {
    await root.close()
  }
}
