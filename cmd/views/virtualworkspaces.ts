import { setMaxListeners } from 'node:events'
import { accessReviewStorages, createExplainer, detailsFromReviews } from '../../authz/index.ts'
import { isIdentityHeader } from '../../framework/authn/index.ts'
import { apiSetOf } from '../../framework/contract/apis.ts'
import { createLogger, levelOfVerbosity } from '../../framework/contract/log.ts'
import { versionInfo } from '../../framework/contract/version.ts'
import type { VirtualWorkspace, WorkspaceFactory } from '../../framework/contract/workspace.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import { onlyUrl } from '../../framework/publishing/publisher.ts'
import { pathPattern } from '../../framework/request/path.ts'
import type { HealthCheck } from '../../framework/server/health.ts'
import { createServer, type Server } from '../../framework/server/server.ts'
import { createOpenApiDocuments, reviewResourcesOf } from '../../openapi/index.ts'
import { type RemoteShard, remoteShard } from '../../remote/backend.ts'
import type { ShardConnection } from '../../remote/connection/connection.ts'
import { remoteWorkspaces } from '../../virtual/index.ts'
import { prepareAudit } from '../audit/audit.ts'
import { allAuthorities } from '../certificates/authorities.ts'
import { build } from '../files/build.ts'
import { ignoredByViews, warningsAbout } from '../flags/ignored.ts'
import { connectionLimit, fairnessLimits } from '../flags/limits.ts'
import { sentenceFor, servedText } from '../flags/servedviews.ts'
import { type Listening, listenError, publicUrl, withPort } from '../flags/serving.ts'
import type { VirtualWorkspacesFlags } from '../flags/virtualworkspaces.ts'
import { isolationOfViews } from '../isolation/isolation.ts'
import { collectWhenIdle } from '../process/idlecollection.ts'
import { saveMemory } from '../process/savingmemory.ts'
import { endDespitePlugins, logStopped, stopSignal } from '../process/shutdown.ts'
import { closingBoth, prepareTracing } from '../tracing/tracing.ts'
import { openConnections } from './shardconnection.ts'
import { supervise } from './supervision.ts'
import { openAuthentication, type ViewAuthentication } from './viewauthentication.ts'
import { openViewCertificate, type ViewCertificate } from './viewcertificate.ts'
import { hasIsolated } from './viewlist.ts'
import { type LoadedViews, loadViews, viewsOver } from './viewplugins.ts'
import type { ViewSetup } from './viewsetup.ts'

/** Milliseconds that requests in progress may take to end after SIGTERM. */
const grace = 10_000

/** `oriel virtual-workspaces`: serves until SIGINT or SIGTERM. Throws `StartError` on invalid flags and files. */
export async function startVirtualWorkspaces(flags: VirtualWorkspacesFlags): Promise<void> {
  saveMemory()
  const log = createLogger(levelOfVerbosity(flags.v))
  for (const warning of warningsAbout(ignoredByViews, flags)) log.warn({}, warning)
  const stopping = new AbortController()
  // Every informer adds a listener.
  setMaxListeners(0, stopping.signal)
  collectWhenIdle(stopping.signal)
  const tracing = await prepareTracing(flags, log)
  const running = await open({ flags, log, signal: stopping.signal, ...(tracing && { tracing }) })
  process.stdout.write(`Serving the views of ${flags.kubeconfig} on ${running.url}. ${servedText}\n`)
  await stopSignal()
  await running.server.close(grace)
  stopping.abort()
  await running.close()
  logStopped(log)
  endDespitePlugins(flags)
}

interface Running {
  readonly url: string
  readonly server: Server
  close(): Promise<void>
}

async function open(setup: ViewSetup): Promise<Running> {
  const { flags } = setup
  const connections = await openConnections(setup)
  const { connection } = connections
  const authentication = await openAuthentication(setup, connections.reviewer)
  const isolation = (await hasIsolated(flags))
    ? await isolationOfViews(flags, levelOfVerbosity(flags.v))
    : undefined
  const views = await loadViews(flags, isolation)
  const audit = await prepareAudit(flags, setup)
  const listening = await withPort({ ...flags, port: flags.securePort })
  const certificate = await openViewCertificate(setup, listening)
  // Its informers send requests at once, so it is created after all flags and files are checked.
  const shard = remoteShard({ ...setup, ...connections })
  const auditor = audit?.auditor(shard)
  const server = await serve(setup, {
    shard,
    authentication,
    connection,
    listening,
    certificate,
    views,
    ...(auditor && { auditor }),
  })
  authentication.follow(server)
  certificate.follow(server)
  return {
    url: publicUrl(listening),
    server,
    close: async () => void (await Promise.all([audit?.close(), connections.close()])),
  }
}

interface Parts {
  readonly shard: RemoteShard
  readonly authentication: ViewAuthentication
  readonly connection: ShardConnection
  readonly listening: Listening
  readonly certificate: ViewCertificate
  /** The views of `--view`. */
  readonly views: readonly LoadedViews[]
  readonly auditor?: NonNullable<Parameters<typeof createServer>[0]['auditor']>
}

async function serve({ flags, log, tracing }: ViewSetup, parts: Parts): Promise<Server> {
  const { shard, authentication, connection, listening, certificate, views, auditor } = parts
  const version = versionInfo(build())
  const viewUrls = onlyUrl(publicUrl(listening))
  const clientCA = allAuthorities(authentication.authorities())
  const plainMetrics = createMetrics()
  const metrics = tracing?.measuring(plainMetrics) ?? plainMetrics
  const plugins = supervise(views, { log, metrics, watch: flags.watch === true, viewUrls })
  try {
    const server = await createServer({
      host: listening.bindAddress,
      port: listening.port,
      tls: { ...certificate.current, ...(clientCA && { clientCA }) },
      workspaces: servedViews(plugins, { ...shard, log }),
      elsewhere: sentenceFor,
      ...shard,
      authenticator: authentication.authenticator,
      isIdentityHeader: isIdentityHeader(authentication.identityHeaders),
      ...(auditor && { auditor }),
      documents: createOpenApiDocuments(version),
      version,
      log,
      metrics,
      checks: [reachable(connection)],
      viewUrls,
      limits: fairnessLimits(flags),
      connections: connectionLimit(flags, log),
      ...(tracing && { tracing }),
    })
    return tracing === undefined ? server : closingBoth(server, tracing)
  } catch (error) {
    throw listenError(error, listening)
  }
}

function servedViews(
  plugins: readonly WorkspaceFactory[],
  host: Parameters<typeof viewsOver>[1],
): readonly VirtualWorkspace[] {
  const served: readonly VirtualWorkspace[] = viewsOver(
    [...remoteWorkspaces.map(unpublished), ...plugins, explanations(() => served)],
    host,
  )
  return served
}

/** Removes the publisher of a view: the controllers of the shard publish its URLs. */
const unpublished =
  (factory: WorkspaceFactory): WorkspaceFactory =>
  host => {
    const { publisher: _, ...workspace } = factory(host)
    return workspace
  }

const reachable = ({ reach }: ShardConnection): HealthCheck => ({
  name: 'shard',
  healthy: () => reach.isGood(),
})

/**
 * Access reviews that explain the decisions of the views, at `/services/explain/clusters/<cluster>`, for users who may
 * create access reviews in that logical cluster. With views and shard in one process, the logical cluster serves them.
 */
const explanations =
  (views: () => readonly VirtualWorkspace[]): WorkspaceFactory =>
  ({ backend: { authorizer } }) => {
    const details = detailsFromReviews(authorizer)
    const explainer = createExplainer({ authorizer, details, views })
    const apis = apiSetOf(reviewResourcesOf(accessReviewStorages(authorizer, explainer)))
    return { name: 'explain', path: pathPattern('/services/explain'), apis: () => apis }
  }
