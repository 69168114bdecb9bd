import { type BearerTokenReader, isIdentityHeader, tokenUsers } from '../../framework/authn/index.ts'
import { createLogger, type Logger } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { fairnessByServer } from '../../framework/fairness/fairness.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import type { HealthCheck } from '../../framework/server/health.ts'
import { type Listener, listen } from '../../framework/server/listener.ts'
import { createSlices } from '../../framework/server/respond.ts'
import { type Handler, type Service, serve } from '../../framework/server/serve.ts'
import { traced } from '../../framework/server/traced.ts'
import type { Tracing } from '../../framework/tracing/tracing.ts'
import { accessReviews } from '../../proxy/access.ts'
import { frontProxy } from '../../proxy/frontproxy.ts'
import { defaultDropGroups, groupFilter } from '../../proxy/groups.ts'
import { proxyMeasures } from '../../proxy/measures.ts'
import { DocumentMemory } from '../../proxy/queries/documentmemory.ts'
import { createShardClient } from '../../proxy/shardclient.ts'
import { followShards, type ShardAddress, type ShardIndex } from '../../proxy/shardindex.ts'
import { shardTokens } from '../../proxy/shardtokens.ts'
import { adminUsers } from '../authentication/admins.ts'
import { audience, type PreparedIdentities, prepareIdentities } from '../authentication/authentication.ts'
import { followUsers } from '../authentication/users.ts'
import { allAuthorities } from '../certificates/authorities.ts'
import { consoleFiles } from '../files/console.ts'
import { openDataDirectory } from '../files/directory.ts'
import {
  followCredentials,
  openCredentials,
  readCredentials,
  readServerAccess,
} from '../files/kubeconfigfile.ts'
import { StartError } from '../files/starterror.ts'
import type { FrontProxyFlags } from '../flags/frontproxy.ts'
import { ignoredByFrontProxy, warningsAbout } from '../flags/ignored.ts'
import { connectionLimit, fairnessLimits } from '../flags/limits.ts'
import { listenError, publicUrl, servingHosts, withPort } from '../flags/serving.ts'
import { collectWhenIdle } from '../process/idlecollection.ts'
import { serverRole } from '../process/role.ts'
import { logStopped } from '../process/shutdown.ts'
import type { Membership } from '../start/membership.ts'
import { openOutbound } from '../start/outbound.ts'
import { openServingCertificate } from '../start/servingcertificate.ts'
import { prepareTracing } from '../tracing/tracing.ts'
import { frontEndpoints } from './endpoints.ts'
import { type FollowedRoutes, followRoutes } from './routes.ts'

/** Milliseconds that requests in progress may take to end after SIGTERM. */
const grace = 10_000

/** `oriel front-proxy`: serves until SIGINT or SIGTERM. Throws `StartError` on invalid flags and files. */
export async function startFrontProxy(
  given: FrontProxyFlags,
  member: Membership = { role: serverRole() },
): Promise<void> {
  const { role } = member
  const log = createLogger(given.logLevel)
  for (const warning of warningsAbout(ignoredByFrontProxy, given)) log.warn({}, warning)
  const stopping = new AbortController()
  const { signal } = stopping
  collectWhenIdle(signal)
  const identities = await prepareIdentities(given, [audience], ...(await usersOf(member, log, signal)))
  const isIdentity = isIdentityHeader(identities.identityHeaders)
  const routes = await followRoutes({ file: given.mappingFile, isIdentity, log, signal })
  const directory = await openDataDirectory(given.dataDirectory)
  const flags = await withPort(given)
  const tracing = await prepareTracing(given, log)
  const setup = {
    flags,
    identities,
    routes,
    log,
    directory: directory.path,
    stopping: signal,
    ...(tracing && { tracing }),
  }
  const proxy = await openFrontProxy(setup)
  const url = publicUrl(flags)
  const stopped = role.stopped()
  const authority = flags.tlsCertFile ?? `${directory.path}/ca.crt`
  role.ready(`Serving on ${url}, certificate authority: ${authority}\n`, url)
  await stopped
  stopping.abort()
  await proxy.close()
  await tracing?.close()
  await directory.release()
  logStopped(log)
  role.end()
}

/** The users of the installation, besides those of the flags. */
async function usersOf(
  { admins, usersDirectory }: Membership,
  log: Logger,
  signal: AbortSignal,
): Promise<readonly BearerTokenReader[]> {
  return [
    ...(admins === undefined ? [] : [tokenUsers(adminUsers(admins))]),
    ...(usersDirectory === undefined
      ? []
      : [await followUsers({ dataDirectory: usersDirectory, log, signal })]),
  ]
}

interface FrontProxySetup {
  readonly flags: FrontProxyFlags
  readonly identities: PreparedIdentities
  readonly routes: FollowedRoutes
  /** Directory of the serving certificate. */
  readonly directory: string
  readonly log: Logger
  readonly stopping: AbortSignal
  readonly tracing?: Tracing
}

async function openFrontProxy(setup: FrontProxySetup): Promise<{ close(): Promise<void> }> {
  const { flags, identities, routes, stopping, tracing } = setup
  const publicName = (flags.externalUrl ?? publicUrl(flags)).replace(/\/+$/, '')
  const shards = await openShards(setup, publicName)
  const { index } = shards
  const { authenticator } = identities.with(shardTokens(index, shards.clientOf))
  const review = accessReviews(index, shards.clientOf)
  const measures = proxyMeasures(createMetrics(), () => index.sizes())
  const metrics = tracing?.measuring(measures.metrics) ?? measures.metrics
  const slices = createSlices()
  const handler = frontProxy({
    index,
    authenticator,
    review,
    measures,
    slices,
    documents: new DocumentMemory(),
    stopping,
    fairness: fairnessByServer(fairnessLimits(flags), metrics),
    routes: routes.current,
    groups: groupsOf(flags),
    outbound: await openOutbound(flags, 'oriel front-proxy'),
    publicUrl: publicName,
    ...(tracing && { traceHeaders: () => tracing.headers() }),
  })
  const checks = checksOf(index, stopping)
  const isMapped = (path: string): boolean => (routes.current().match(path)?.mapping.path ?? '/') !== '/'
  const own = { authenticator, review, checks, metrics, files: consoleFiles(), isMapped }
  const answer = frontEndpoints(own, handler)
  const answers = tracing === undefined ? answer : traced(tracing, answer)
  const listener = await openPort(setup, answers, { metrics, slices })
  return {
    async close() {
      await listener.drain(grace)
      await routes.close()
      await shards.close()
    },
  }
}

/** The groups of users that shards get. */
const groupsOf = ({ authenticationPassOnGroups = [], authenticationDropGroups }: FrontProxyFlags) =>
  groupFilter(authenticationPassOnGroups, authenticationDropGroups ?? defaultDropGroups)

const checksOf = (index: ShardIndex, stopping: AbortSignal): readonly HealthCheck[] => [
  { name: 'ping', live: true, healthy: () => true },
  { name: 'shards', healthy: () => index.isServing() },
  { name: 'shutdown', healthy: () => !stopping.aborted },
]

/** Listens, and reloads certificates and certificate authorities when their files change. */
async function openPort(
  { flags, identities: authentication, directory, log, stopping: signal }: FrontProxySetup,
  answer: Handler,
  measured: Pick<Service, 'metrics' | 'slices'>,
): Promise<Listener> {
  const hosts = servingHosts(flags)
  const { files, follow } = await openServingCertificate(flags, directory, hosts)
  const clientCA = allAuthorities(authentication.authorities())
  const connections = connectionLimit(flags, log)
  connections.measure(measured.metrics)
  const service = { ...measured, log, requestTimeout: 60_000, stopping: signal, connections }
  const tls = { cert: files.certificate, key: files.key, ...(clientCA && { clientCA }) }
  try {
    const server = await listen(
      { host: flags.bindAddress, port: flags.port, tls, log, connections },
      (request, response) => void serve(service, { request, response }, answer),
      (request, response, upgrade) => void serve(service, { request, response, upgrade }, answer),
    )
    follow(server, { log, signal })
    authentication.follow(server, { log, signal })
    return server
  } catch (error) {
    throw listenError(error, flags)
  }
}

interface Shards {
  readonly index: ShardIndex
  clientOf(shard: ShardAddress): PeerClient
  close(): Promise<void>
}

async function openShards({ flags, log, stopping }: FrontProxySetup, externalUrl: string): Promise<Shards> {
  const { rootKubeconfig, shardsKubeconfig } = flags
  const ending = { log, signal: stopping }
  const readRoot = () => readServerAccess('--root-kubeconfig', rootKubeconfig)
  const readShards = () => readCredentials('--shards-kubeconfig', shardsKubeconfig)
  const ofRoot = await openCredentials('--root-kubeconfig', readRoot)
  ofRoot.follow(ending)
  const access = await followCredentials('--shards-kubeconfig', readShards, ending)
  const clients = new Map<string, PeerClient>()
  const connect = ({ baseURL }: ShardAddress): PeerClient => createShardClient({ server: baseURL }, access)
  const clientOf = (shard: ShardAddress): PeerClient => {
    const known = clients.get(shard.baseURL) ?? connect(shard)
    clients.set(shard.baseURL, known)
    return known
  }
  const root = createShardClient(ofRoot.access, ofRoot.current)
  const index = await followShards({ root, connect, externalUrl, ...ending }).catch(error => {
    const { message } = error as Error
    throw new StartError(`The root shard of ${rootKubeconfig} cannot be read: ${message}.`)
  })
  const close = async (): Promise<void> => {
    await Promise.all([root, ...clients.values()].map(client => client.close()))
  }
  return { index, clientOf, close }
}
