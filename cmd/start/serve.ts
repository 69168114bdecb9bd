import { setTimeout as sleep } from 'node:timers/promises'
import type { Auditor } from '../../framework/audit/index.ts'
import { isIdentityHeader } from '../../framework/authn/index.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { Outbound } from '../../framework/contract/upstream.ts'
import { versionInfo } from '../../framework/contract/version.ts'
import { joinMetrics } from '../../framework/metrics/joined.ts'
import { createMetrics, type Metrics } from '../../framework/metrics/metrics.ts'
import type { HealthCheck } from '../../framework/server/health.ts'
import type { Port } from '../../framework/server/listener.ts'
import { type Server, serveOn } from '../../framework/server/server.ts'
import { createOpenApiDocuments } from '../../openapi/index.ts'
import type { QuotaLimits } from '../../shard/admission/quota/quota.ts'
import type { Store } from '../../shard/store/store.ts'
import { workspaces } from '../../virtual/index.ts'
import type { PreparedAuthentication } from '../authentication/authentication.ts'
import { openIdPages } from '../authentication/openid.ts'
import type { AuthorizationParts } from '../authorization/authorization.ts'
import { build } from '../files/build.ts'
import { consoleFiles } from '../files/console.ts'
import type { Disk } from '../files/disk.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { fairnessLimits } from '../flags/limits.ts'
import { publicUrl } from '../flags/serving.ts'
import type { StartFlags } from '../flags/start.ts'
import type { ServerRole } from '../process/role.ts'
import { closingBoth, prepareTracing } from '../tracing/tracing.ts'
import { clustersView } from '../views/clustersview.ts'
import { supervise } from '../views/supervision.ts'
import { type LoadedViews, viewsOver } from '../views/viewplugins.ts'
import type { Embedded } from './shard.ts'

export interface ServeOptions {
  readonly options: StartFlags
  readonly role: ServerRole
  readonly host: Embedded
  readonly store: Store
  readonly authentication: PreparedAuthentication
  readonly port: Port
  /** The views of `--view`. */
  readonly views: readonly LoadedViews[]
  readonly authorization: Pick<AuthorizationParts, 'explains'>
  readonly outbound: Outbound
  readonly disk: Disk
  readonly quota: QuotaLimits
  readonly auditor?: Auditor
  readonly log: Logger
}

/** Serves all views and the logical clusters themselves on one port. */
export async function serve(given: ServeOptions): Promise<Server> {
  const { options, host, store, authentication, port, views, outbound, quota, auditor, log } = given
  const version = versionInfo(build())
  const { serviceAccounts, identityHeaders } = authentication
  const { authenticator } = host.authentication
  const tokenSecret = serviceAccounts.keys.secret()
  const tracing = await prepareTracing(options, log)
  const plainMetrics = joinedMetrics(createMetrics({ cachedLists: true }), given.role)
  const metrics = tracing?.measuring(plainMetrics) ?? plainMetrics
  const { viewUrls } = host
  const plugins = supervise(views, { log, metrics, watch: options.watch === true, viewUrls })
  const served = viewsOver([...workspaces, ...plugins, clustersView], { ...host, outbound })
  given.authorization.explains(served)
  host.viewed.use(served)
  given.disk.measure(metrics)
  measureObjects(metrics, host, quota)
  const server = serveOn(port, {
    workspaces: served,
    backend: host.backend,
    informers: host.informers,
    authenticator,
    isIdentityHeader: isIdentityHeader(identityHeaders),
    ...(auditor && { auditor }),
    documents: createOpenApiDocuments(version),
    version,
    log,
    metrics,
    checks: store.isShared ? [storeCheck(store, options)] : [],
    authorizesHealth: true,
    pages: openIdPages(serviceAccounts, publicUrl(options)),
    files: consoleFiles(),
    publicUrl: publicUrl(options),
    viewUrls,
    outbound,
    limits: fairnessLimits(options),
    ...(tokenSecret && { tokenSecret }),
    ...(tracing && { tracing }),
  })
  return tracing === undefined ? server : closingBoth(server, tracing)
}

function measureObjects(metrics: Metrics, host: Embedded, limits: QuotaLimits): void {
  measureHistory(metrics, host)
  measureStored(metrics, host, limits)
}

function measureHistory(metrics: Metrics, { cache }: Pick<Embedded, 'cache'>): void {
  metrics.meter({
    kind: 'gauge',
    name: 'oriel_watch_history_bytes',
    help: 'Bytes of the events that are kept for watches, of all resources.',
    labels: [],
    collect: set => set({}, cache.historyBytes),
  })
}

/** The label `limit` is `total` for `--total-bytes-limit`, `decoded` for `--total-decoded-bytes-limit`. */
function measureStored(metrics: Metrics, { stored }: Pick<Embedded, 'stored'>, limits: QuotaLimits): void {
  const measure = (name: string, help: string, valuesOf: () => Readonly<Record<string, number>>): void => {
    metrics.meter({
      kind: 'gauge',
      name,
      help,
      labels: ['limit'],
      collect(set) {
        for (const [limit, value] of Object.entries(valuesOf())) set({ limit }, value)
      },
    })
  }
  measure(
    'oriel_stored_bytes',
    'Bytes of the objects of all logical clusters, as JSON, that a limit counts.',
    () => ({ total: stored.bytes, decoded: stored.decodedBytes }),
  )
  measure(
    'oriel_stored_bytes_limit',
    'The most bytes of the objects of all logical clusters; 0: no limit.',
    () => ({ total: limits.totalBytes, decoded: limits.totalDecodedBytes }),
  )
}

/** The metrics of all processes that share the port. */
function joinedMetrics(own: Metrics, role: ServerRole): Metrics {
  const collect = role.collect?.(async () => (await own.text()).body)
  if (collect === undefined) return own
  return {
    ...own,
    text: async () => {
      const [{ contentType }, texts] = await Promise.all([own.text(), collect()])
      return { contentType, body: joinMetrics(texts) }
    },
  }
}

/** Milliseconds. */
const storePatience = 2_000

/** Whether the store answers: `/readyz/etcd`, as that of kube-apiserver, or `/readyz/store`. */
const storeCheck = (store: Store, { store: where = '' }: Pick<StartFlags, 'store'>): HealthCheck => ({
  name: isEtcd(where) ? 'etcd' : 'store',
  healthy: () => Promise.race([store.latest().then(() => true), sleep(storePatience, false, { ref: false })]),
})
