import { retry } from '../../framework/async/backoff.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import type { Tracing } from '../../framework/tracing/tracing.ts'
import {
  connectShard,
  type ShardConnection,
  type ShardRequest,
  textOf,
} from '../../remote/connection/connection.ts'
import { follow } from '../files/follow.ts'
import { readFlagKubeconfig } from '../files/kubeconfigfile.ts'
import type { ConnectionSetup } from './viewsetup.ts'

export interface ConnectionSource {
  readonly flag: string
  readonly path: string
  /** The request that checks a changed kubeconfig; it is retried until it succeeds. */
  readonly probe?: string
}

/** Connects to the server in the kubeconfig of a flag, and reloads the file. Throws `StartError` on an invalid kubeconfig. */
export async function openConnection(
  { flags: { context }, log, tracing, signal }: ConnectionSetup,
  { flag, path, probe = '/version' }: ConnectionSource,
): Promise<ShardConnection> {
  const read = () => readFlagKubeconfig(flag, path, context)
  const current = await read()
  const connection = tracedConnection(connectShard(current, log), tracing)
  let proving = new AbortController()
  const use = (next: ServerAccess): void => {
    connection.use(next)
    proving.abort()
    proving = new AbortController()
    void prove(connection, probe, AbortSignal.any([signal, proving.signal]))
  }
  follow({ what: `kubeconfig of ${flag}`, current, read, use, log, signal })
  return connection
}

/** Milliseconds. */
const pauses = { first: 500, longest: 5_000 }

/**
 * Sends requests until there is a response, because no other request may come for a long time. The connection logs
 * failures.
 */
const prove = (connection: ShardConnection, target: string, signal: AbortSignal): Promise<unknown> =>
  retry(() => connection.ask({ method: 'GET', target, signal }).then(textOf), { ...pauses, signal }).catch(
    () => undefined,
  )

/** The connections of the views to other servers. */
export interface ViewConnections {
  readonly connection: ShardConnection
  /** The server that reviews tokens. */
  readonly reviewer: ShardConnection
  /** Reaches the logical clusters of all shards. */
  readonly everywhere?: ShardConnection
  readonly cache?: ShardConnection
  close(): Promise<void>
}

/** A request over all logical clusters, which every view needs. */
const probe = '/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters?limit=1'

/** Opens the connections of the flags. Throws `StartError` on invalid kubeconfigs. */
export async function openConnections(setup: ConnectionSetup): Promise<ViewConnections> {
  const { flags } = setup
  const open = (flag: string, path: string | undefined) =>
    path === undefined ? undefined : openConnection(setup, { flag, path })
  const connection = await openConnection(setup, { flag: '--kubeconfig', path: flags.kubeconfig, probe })
  const everywhere = await open(
    '--external-logical-cluster-admin-kubeconfig',
    flags.externalLogicalClusterAdminKubeconfig,
  )
  const reviewer = await open('--authentication-kubeconfig', flags.authenticationKubeconfig)
  const cache = await (flags.cacheServerKubeconfigFile === undefined
    ? open('--cache-kubeconfig', flags.cacheKubeconfig)
    : open('--cache-server-kubeconfig-file', flags.cacheServerKubeconfigFile))
  const all = [connection, everywhere, reviewer, cache].filter(each => each !== undefined)
  return {
    connection,
    reviewer: reviewer ?? connection,
    ...(everywhere && { everywhere }),
    ...(cache && { cache }),
    close: async () => void (await Promise.all(all.map(each => each.close()))),
  }
}

/** A connection whose requests are spans of the traces, and carry their context. */
function tracedConnection(connection: ShardConnection, tracing: Tracing | undefined): ShardConnection {
  if (tracing === undefined) return connection
  const passing =
    <T>(send: (request: ShardRequest) => Promise<T>) =>
    async (request: ShardRequest): Promise<T> =>
      tracing.hop(`${request.method} to the shard`, headers =>
        send({ ...request, headers: { ...request.headers, ...headers } }),
      )
  return { ...connection, send: passing(connection.send), ask: passing(connection.ask) }
}
