import { type BearerTokenReader, tokenUsers } from '../../framework/authn/index.ts'
import { createLogger, type Logger } from '../../framework/contract/log.ts'
import { openPort, type Port } from '../../framework/server/listener.ts'
import type { Store } from '../../shard/store/store.ts'
import { ownAdminTokens, prepareAdmins } from '../authentication/admins.ts'
import {
  accountKeys,
  type PreparedAuthentication,
  prepareAuthentication,
} from '../authentication/authentication.ts'
import { followUsers } from '../authentication/users.ts'
import { allAuthorities } from '../certificates/authorities.ts'
import { prepareServiceAccountKeys } from '../certificates/serviceaccountkey.ts'
import type { ServingFiles } from '../certificates/servingfiles.ts'
import { openServerDirectory } from '../files/directory.ts'
import { type Disk, followDisk, noDisk } from '../files/disk.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { writePrivately } from '../files/files.ts'
import { adminKubeconfig, kubeconfigPlace } from '../files/kubeconfig.ts'
import { openStore, storePlace } from '../files/store.ts'
import { ignoredByStart, warningsAbout } from '../flags/ignored.ts'
import { connectionLimit, type LimitFlags, quotaLimits } from '../flags/limits.ts'
import { type Listening, listenError, publicUrl, servingHosts } from '../flags/serving.ts'
import type { StartFlags } from '../flags/start.ts'
import type { ServedIsolation } from '../isolation/isolation.ts'
import { collectWhenIdle } from '../process/idlecollection.ts'
import { withProgress } from '../process/progress.ts'
import { type ServerRole, serverRole } from '../process/role.ts'
import { endAtLatest, endDespitePlugins, logStopped } from '../process/shutdown.ts'
import type { Membership } from './membership.ts'
import { openServingCertificate } from './servingcertificate.ts'
import { prepareSharedKeys } from './sharedkeys.ts'
import { asStartError, endBecause } from './storeerrors.ts'

/** Milliseconds that requests in progress may take to end after SIGTERM. */
const grace = 10_000
/** Milliseconds from SIGTERM to the end of the process, at most; supervisors wait for 30 seconds. */
const longestStop = 15_000

/** Made when it is shown: the first text of `Intl` takes 20 ms. */
const loadedText = (objects: number): string => `Starting: ${objects.toLocaleString('en')} objects`

/** `oriel start`: serves until SIGINT or SIGTERM. Throws `StartError` on invalid flags and files. */
export async function start(given: StartFlags, member: Membership = { role: serverRole() }): Promise<void> {
  const [log, { role }] = [loggerFor(given), member]
  const directory = await openServerDirectory(given.dataDirectory, role)
  const places = placesOf(given, directory.path)
  const { where, kubeconfig } = places
  const { admins, keys } = await prepareKeys(given, places, member)
  const [stopping, leading] = [new AbortController(), new AbortController()]
  const { signal } = stopping
  collectWhenIdle(signal)
  const { usersDirectory = directory.path } = member
  const users = await followUsers({ dataDirectory: usersDirectory, log, signal })
  const { isolation, tokens } = await prepareIsolation(given, [tokenUsers(admins.users), users])
  const authentication = await prepareAuthentication(given, tokens, accountKeys(given, keys))
  const { files: serving, follow } = await openServingCertificate(given, directory.path, servingHosts(given))
  const port = await openServingPort(given, { ...serving, isolation }, authentication, log)
  const options = { ...given, port: port.port }
  const url = publicUrl(options)
  await writeKubeconfig(given, kubeconfig, adminKubeconfig({ server: url, ca: serving.authority, ...admins }))
  const served = { options, role, port, where, authentication, isolation, log, signal }
  const { shard, server, store, audit, disk } = await withProgress('Starting', say =>
    bringUp({ ...served, rootCA: serving.authority, loading: objects => say(() => loadedText(objects)) }),
  ).catch(asStartError)
  // Installed before the banner: a supervisor may send a signal as soon as it reads the banner.
  const stopped = role.stopped()
  role.ready(banner({ url, kubeconfig, store: where, startedIn: performance.now() }), url)
  const controllers = shard.run(leading.signal)
  follow(server, { log, signal })
  authentication.follow(server, { log, signal })

  await stopped
  endAtLatest(longestStop)
  await server.close(grace)
  await audit?.close()
  leading.abort()
  await controllers
  stopping.abort()
  await closeParts({ shard, disk, store })
  await directory.release()
  endProcess(given, role, log)
}

/** Adds the tokens of the processes of isolated views. Loads their code only where there are some: most servers have none. */
async function prepareIsolation(given: StartFlags, tokens: readonly BearerTokenReader[]) {
  if (given.views === undefined) return { isolation: undefined, tokens }
  const { hasIsolated } = await import('../views/viewlist.ts')
  const { isolationOfServer } = await import('../isolation/isolation.ts')
  const isolation = (await hasIsolated(given)) ? await isolationOfServer(given.logLevel) : undefined
  return { isolation, tokens: isolation === undefined ? tokens : [...tokens, isolation.tokens] }
}

const writeKubeconfig = ({ kubeconfigPath }: StartFlags, path: string, content: string): Promise<void> =>
  writePrivately(path, content, kubeconfigPath === undefined ? undefined : '--kubeconfig-path')

interface Places {
  readonly directory: string
  readonly where: string
  readonly kubeconfig: string
}

async function closeParts({
  shard,
  disk,
  store,
}: Pick<Awaited<ReturnType<typeof bringUp>>, 'shard' | 'disk' | 'store'>) {
  shard.close()
  disk.close()
  await store.close()
}

function endProcess(flags: StartFlags, role: ServerRole, log: Logger): void {
  logStopped(log)
  role.end()
  endDespitePlugins(flags)
}

const placesOf = (flags: StartFlags, directory: string): Places => ({
  directory,
  where: storePlace(flags, directory),
  kubeconfig: kubeconfigPlace(flags, directory),
})

/** The administrators and the keys of service account tokens, which the servers of an etcd share, and replicas over a directory. */
async function prepareKeys(
  given: StartFlags,
  { directory, where, kubeconfig }: Places,
  { admins: known, role }: Membership,
) {
  const ownTokens = () => ownAdminTokens(directory, kubeconfig)
  const sharing = { directory, where, flags: given, ownTokens }
  const shared =
    known ?? (await prepareSharedKeys(sharing).catch(asStartError)) ?? (await role.adminTokens?.())
  const admins = await prepareAdmins(directory, kubeconfig, shared)
  return { admins, keys: await prepareServiceAccountKeys(directory, given) }
}

/** The log, which begins with the flags that have no effect. */
function loggerFor(flags: StartFlags): Logger {
  const log = createLogger(flags.logLevel)
  for (const warning of warningsAbout(ignoredByStart, flags)) log.warn({}, warning)
  return log
}

interface Starting {
  readonly options: StartFlags
  readonly role: ServerRole
  readonly port: Port
  /** Location of the store. */
  readonly where: string
  readonly authentication: PreparedAuthentication
  /** For views with `isolate: true`. */
  readonly isolation: ServedIsolation | undefined
  /** The certificate authority of the serving certificate, PEM. */
  readonly rootCA: string
  readonly loading: (objects: number) => void
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Opens the store and the shard, and answers the requests at the port. */
async function bringUp(starting: Starting) {
  const { options, role, port, authentication, log } = starting
  const [
    store,
    { prepareSharding },
    { openEmbedded },
    { serve },
    { prepareAuthorization },
    { missingFor, prepareAudit },
    { loadViews },
    { openOutbound },
  ] = await Promise.all([
    storeOf(starting),
    import('./sharding.ts'),
    import('./shard.ts'),
    import('./serve.ts'),
    import('../authorization/authorization.ts'),
    import('../audit/audit.ts'),
    import('../views/viewplugins.ts'),
    import('./outbound.ts'),
  ])
  void store.failed.then(endBecause)
  const disk = await openDisk(starting)
  const views = await loadViews(options, starting.isolation)
  const sharding = await prepareSharding(options, publicUrl(options), starting)
  const authorization = await prepareAuthorization(options, starting)
  const audit = await prepareAudit(options, starting)
  const outbound = await openOutbound(options, 'oriel start')
  const common = { store, authentication, authorization, outbound, quota: quotaLimits(options), disk, log }
  const shard = await openEmbedded({ ...common, sharding, ...ofShardOnly(starting) })
  const auditor = audit?.auditor(shard, missingFor(shard, authorization))
  const served = { ...common, options, role, port, views, host: shard }
  const server = await serve({ ...served, ...(auditor && { auditor }) })
  return { shard, server, store, audit, disk }
}

/** Over etcd, each process opens the store; another store is open in the process that started the replicas. */
const storeOf = (starting: Starting): Promise<Store> => {
  const { role, where } = starting
  if (role.openParentsStore && !isEtcd(where)) return role.openParentsStore()
  return openStore(where, storeFlags(starting), starting)
}

/** One process of a data directory notes what it has seen of etcd. */
const storeFlags = ({ options: { dataDirectory, ...flags }, role }: Starting) =>
  role.isFirst ? { ...flags, dataDirectory } : flags

/** What only the shard uses. */
const ofShardOnly = ({ options: flags, rootCA, loading, signal }: Starting) => ({
  rootCA,
  loading,
  signal,
  issuerAllow: flags.issuerAllow ?? [],
  webhookAllow: flags.webhookAllow ?? [],
  ...(flags.eventTtl !== undefined && { eventTtl: flags.eventTtl }),
  ...(flags.homeWorkspacesHomeCreatorGroups && { homeCreators: flags.homeWorkspacesHomeCreatorGroups }),
})

const openDisk = ({ options, where, log }: Starting): Promise<Disk> =>
  where === 'memory:' || isEtcd(where)
    ? Promise.resolve(noDisk)
    : followDisk({ directory: where, floor: options.storeMinFree, log })

/** Listens on the port of the flags; requests wait until the server is ready. Throws `StartError` when it is not available. */
async function openServingPort(
  options: Listening & Pick<LimitFlags, 'maxConnections'>,
  { certificate, key, isolation }: ServingFiles & Pick<Starting, 'isolation'>,
  authentication: Pick<PreparedAuthentication, 'authorities'>,
  log: Logger,
): Promise<Port> {
  const clientCA = allAuthorities(authentication.authorities())
  const tls = { cert: certificate, key, ...(clientCA !== undefined && { clientCA }) }
  try {
    const connections = connectionLimit(options, log)
    const port = await openPort({ host: options.bindAddress, port: options.port, tls, log, connections })
    return isolation?.with(port) ?? port
  } catch (error) {
    throw listenError(error, options)
  }
}

/** The data of the banner. */
interface BannerOptions {
  readonly url: string
  readonly kubeconfig: string
  /** Location of the store, for display. */
  readonly store: string
  /** Milliseconds from the start of the process. */
  readonly startedIn: number
}

/** The lines printed after the start: the URL of the server and the next commands. */
const banner = ({ url, kubeconfig, store, startedIn }: BannerOptions): string =>
  [
    `Oriel serves ${url} (ready in ${Math.round(startedIn)} ms, objects in ${store}).`,
    '',
    'Next, in another terminal:',
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl api-resources',
    '  kubectl get workspaces',
    '',
  ].join('\n')
