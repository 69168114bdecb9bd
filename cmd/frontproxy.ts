import type { HealthCheck } from '../framework/health.ts'
import { type Listener, listen } from '../framework/listener.ts'
import { createLogger, type Logger } from '../framework/log.ts'
import { createMetrics, type Metrics } from '../framework/metrics.ts'
import { type Handler, serve } from '../framework/serve.ts'
import { accessReviews } from '../proxy/access.ts'
import { openBackends } from '../proxy/backends.ts'
import { frontProxy } from '../proxy/frontproxy.ts'
import { defaultDropGroups, groupFilter } from '../proxy/groups.ts'
import type { Mapping } from '../proxy/mapping.ts'
import { createShardClient, type ShardClient } from '../proxy/shardclient.ts'
import { followShards, type ShardAddress, type ShardIndex } from '../proxy/shardindex.ts'
import { openDataDirectory } from './directory.ts'
import { readEndpoint } from './endpoint.ts'
import { fixedFrontEndpoints } from './frontproxyendpoints.ts'
import { edgeAuthentication, readMappings, usable } from './frontproxyfiles.ts'
import type { FrontProxyFlags } from './frontproxyflags.ts'
import { watchMappings } from './mappingwatch.ts'
import { listenError, publicUrl, servingHosts, withPort } from './options.ts'
import { openOutbound } from './outbound.ts'
import { prepareServing } from './servingfiles.ts'
import { stopSignal } from './shutdown.ts'

/** Milliseconds that running requests get to end. */
const grace = 10_000

/** `oriel front-proxy`: serves until SIGINT or SIGTERM. Throws `StartError` for what the user can change. */
export async function startFrontProxy(given: FrontProxyFlags): Promise<void> {
  const log = createLogger(given.logLevel)
  const mappings = await readMappings(given.mappingFile)
  const directory = await openDataDirectory(given.dataDirectory)
  const flags = await withPort(given)
  const stopping = new AbortController()
  const proxy = await openFrontProxy({
    flags,
    mappings,
    directory: directory.path,
    log,
    stopping: stopping.signal,
  })
  process.stdout.write(`Serving on ${publicUrl(flags)}, with the authority ${directory.path}/ca.crt\n`)
  await stopSignal()
  stopping.abort()
  await proxy.close()
  await directory.release()
}

interface FrontProxySetup {
  readonly flags: FrontProxyFlags
  readonly mappings: readonly Mapping[]
  /** Where the serving certificate is. */
  readonly directory: string
  readonly log: Logger
  readonly stopping: AbortSignal
}

async function openFrontProxy(setup: FrontProxySetup): Promise<{ close(): Promise<void> }> {
  const { flags, mappings, log, stopping } = setup
  const publicName = (flags.externalUrl ?? publicUrl(flags)).replace(/\/+$/, '')
  const backends = await usable(openBackends(mappings))
  const shards = await openShards(setup, publicName)
  const review = accessReviews(shards.index, shards.clientOf)
  const { authenticator, clientCA } = await edgeAuthentication(flags)
  const users = { review, ...(authenticator && { authenticator }) }
  const pass = flags.authenticationPassOnGroups ?? []
  const drop = flags.authenticationDropGroups ?? defaultDropGroups
  const handler = frontProxy({
    ...users,
    mappings,
    backends,
    index: shards.index,
    groups: groupFilter(pass, drop),
    outbound: await openOutbound(flags),
    publicUrl: publicName,
    stopping,
  })
  const metrics = createMetrics()
  const checks = checksOf(shards.index, stopping)
  const answer = fixedFrontEndpoints({ ...users, checks, metrics }, handler)
  const listener = await openPort(setup, { answer, metrics, ...(clientCA && { clientCA }) })
  watchMappings(mappings, backends, { log, signal: stopping })
  return {
    async close() {
      await listener.drain(grace)
      await backends.close()
      await shards.close()
    },
  }
}

const checksOf = (index: ShardIndex, stopping: AbortSignal): readonly HealthCheck[] => [
  { name: 'ping', live: true, healthy: () => true },
  { name: 'shards', healthy: () => index.isReady() },
  { name: 'shutdown', healthy: () => !stopping.aborted },
]

interface Answering {
  readonly answer: Handler
  readonly metrics: Metrics
  readonly clientCA?: string
}

async function openPort(
  { flags, directory, log, stopping }: FrontProxySetup,
  { answer, metrics, clientCA }: Answering,
): Promise<Listener> {
  const { certificate, key } = await prepareServing(directory, servingHosts(flags))
  const service = { log, metrics, requestTimeout: 60_000, isStopping: () => stopping.aborted }
  const tls = { cert: certificate, key, ...(clientCA && { clientCA }) }
  try {
    return await listen(
      { host: flags.bindAddress, port: flags.port, tls },
      (request, response) => void serve(service, { request, response }, answer),
      (request, response, upgrade) => void serve(service, { request, response, upgrade }, answer),
    )
  } catch (error) {
    throw listenError(error, flags)
  }
}

interface Shards {
  readonly index: ShardIndex
  clientOf(shard: ShardAddress): ShardClient
  close(): Promise<void>
}

async function openShards({ flags, log, stopping }: FrontProxySetup, externalUrl: string): Promise<Shards> {
  const [rootEndpoint, endpoint] = await Promise.all([
    readEndpoint('--root-kubeconfig', flags.rootKubeconfig),
    readEndpoint('--shards-kubeconfig', flags.shardsKubeconfig),
  ])
  const clients = new Map<string, ShardClient>()
  const clientOf = ({ baseURL }: ShardAddress): ShardClient => {
    const known = clients.get(baseURL) ?? createShardClient({ ...endpoint, url: baseURL })
    clients.set(baseURL, known)
    return known
  }
  const root = createShardClient(rootEndpoint)
  const connect = ({ baseURL }: ShardAddress): ShardClient => createShardClient({ ...endpoint, url: baseURL })
  const index = await followShards({ root, connect, externalUrl, log, signal: stopping })
  const close = async (): Promise<void> => {
    await Promise.all([root, ...clients.values()].map(client => client.close()))
  }
  return { index, clientOf, close }
}
