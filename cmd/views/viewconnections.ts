import type { ShardConnection } from '../../remote/connection/connection.ts'
import { openConnection } from './shardconnection.ts'
import type { ViewSetup } from './viewsetup.ts'

/** The servers that views ask. */
export interface ViewConnections {
  readonly connection: ShardConnection
  /** Who reviews tokens. */
  readonly reviewer: ShardConnection
  /** Reaches the logical clusters of all shards. */
  readonly everywhere?: ShardConnection
  readonly cache?: ShardConnection
  close(): Promise<void>
}

/** What every view reads of all logical clusters. */
const probe = '/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters?limit=1'

/** Opens what the flags name. Throws `StartError` for what is missing. */
export async function openConnections(setup: ViewSetup): Promise<ViewConnections> {
  const { flags } = setup
  const open = (flag: string, path: string | undefined) =>
    path === undefined ? undefined : openConnection(setup, { flag, path })
  const connection = await openConnection(setup, { flag: '--kubeconfig', path: flags.kubeconfig, probe })
  const everywhere = await open(
    '--external-logical-cluster-admin-kubeconfig',
    flags.externalLogicalClusterAdminKubeconfig,
  )
  const reviewer = await open('--authentication-kubeconfig', flags.authenticationKubeconfig)
  const cache = await open('--cache-kubeconfig', flags.cacheKubeconfig ?? flags.cacheServerKubeconfigFile)
  const all = [connection, everywhere, reviewer, cache].filter(each => each !== undefined)
  return {
    connection,
    reviewer: reviewer ?? connection,
    ...(everywhere && { everywhere }),
    ...(cache && { cache }),
    close: async () => void (await Promise.all(all.map(each => each.close()))),
  }
}
