import { setMaxListeners } from 'node:events'
import { Turns } from '../async/awaitable.ts'
import { onAbort } from '../async/fanout.ts'
import type { Auditor } from '../audit/index.ts'
import type { Backend } from '../contract/backend.ts'
import type { OpenApiDocuments } from '../contract/documents.ts'
import type { Informers } from '../contract/informer.ts'
import type { Logger } from '../contract/log.ts'
import type { Pages } from '../contract/pages.ts'
import type { Outbound } from '../contract/upstream.ts'
import type { VersionInfo } from '../contract/version.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import { createFairness, defaultLimits, type FairnessLimits } from '../fairness/fairness.ts'
import { TokenSeal } from '../lens/sealedtoken.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { onlyUrl, publishUrls, type ViewUrls } from '../publishing/publisher.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { IsIdentity } from '../request/incoming.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { YamlReader } from '../wire/yamlreader.ts'
import { appOnDemand } from './app.ts'
import type { HealthCheck } from './health.ts'
import { type Listener, type ListenOptions, openPort, type Port } from './listener.ts'
import { answerRequest, type Pipeline } from './pipeline.ts'
import { meterViews, runViews } from './readiness.ts'
import { createSlices } from './respond.ts'
import { checkViews, createRoutes, type Elsewhere } from './routes.ts'
import { answeringWith, type Handler } from './serve.ts'
import type { StaticFiles } from './staticfiles.ts'
import { mayGoOn } from './stillallowed.ts'
import { traced } from './traced.ts'
import { WatchReviews } from './watchreviews.ts'

/** The options of a server. */
export interface ServerOptions {
  /** The views. That with an empty pattern is the `/clusters/…` endpoint. */
  readonly workspaces: readonly VirtualWorkspace[]
  /** Views that only other programs serve. */
  readonly elsewhere?: Elsewhere
  readonly backend: Backend
  /** For publishers of URLs. */
  readonly informers: Informers
  readonly authenticator: Authenticator
  /** Whether a header, in lower case, has an identity, besides those of Kubernetes. */
  readonly isIdentityHeader?: IsIdentity
  /** Without it, requests are not audited. */
  readonly auditor?: Auditor
  readonly documents: OpenApiDocuments
  readonly version: VersionInfo
  readonly log: Logger
  readonly metrics: Metrics
  /** Absent: requests are not traced. Its `measuring` has made `metrics`. */
  readonly tracing?: Tracing
  /** Further checks besides `ping`, `shutdown` and one for each view. */
  readonly checks: readonly HealthCheck[]
  /** Asks the backend's authorizer about `/healthz`, `/livez` and `/readyz`, which are public otherwise. */
  readonly authorizesHealth?: boolean
  readonly pages?: Pages
  /** Files of pages in the browser, served without authentication. */
  readonly files?: StaticFiles
  /** The URL of the server for clients, without a trailing slash; default: that of its port. */
  readonly publicUrl?: string
  /** The prefix of the published URLs of views, and the URL for other servers; default: `publicUrl`. */
  readonly viewUrls?: ViewUrls
  /** Forwards requests to mounted servers; without it such mounts are not served. */
  readonly outbound?: Outbound
  /** The timeout of requests that are not long-running, in milliseconds; default 60,000. */
  readonly requestTimeout?: number
  /** Default: `defaultLimits`. */
  readonly limits?: FairnessLimits
  /** Milliseconds between reviews of open watches, at least; default 5,000. */
  readonly watchReviewInterval?: number
  /** Servers with the same secret accept each other's continue tokens; absent: a random one. */
  readonly tokenSecret?: Buffer
}

/** A running server. */
export interface Server {
  readonly port: number
  /** The URL of its port: `https://127.0.0.1:6443`. */
  readonly url: string
  /** Changes the certificates for new connections. Throws, without a change, for invalid certificates. */
  readonly useCertificate: Listener['useCertificate']
  /**
   * Stops the server: `/readyz` fails, watches end, running requests have up to `grace` milliseconds, connections close,
   * and the controllers of views stop.
   */
  close(grace: number): Promise<void>
}

/** Opens a port and serves views on it. Rejects with an `Error` if names or paths of views clash, or if the port is in use. */
export async function createServer(options: ServerOptions & ListenOptions): Promise<Server> {
  checkViews(options.workspaces)
  return serveOn(await openPort(options), options)
}

/** Serves views on an open port. Throws an `Error` if names or paths of views clash. */
export function serveOn(port: Port, options: ServerOptions): Server {
  checkViews(options.workspaces)
  const stopping = new AbortController()
  const controllers = new AbortController()
  // Every view and every publisher adds a listener.
  setMaxListeners(0, controllers.signal)
  const views = runViews(options.workspaces, options.log, controllers.signal)
  meterViews(options.metrics, options.workspaces, views)
  const { requestTimeout = 60_000, publicUrl: url = port.url } = options
  const viewUrls = options.viewUrls ?? onlyUrl(url)
  const pipeline = withReviews({
    ...options,
    ownUrls: [url, viewUrls.own],
    routes: createRoutes(options.workspaces, options.elsewhere),
    requestTimeout,
    fairness: createFairness(options.limits ?? defaultLimits, options.metrics),
    tokens: new TokenSeal(options.tokenSecret),
    views,
    checks: [...ownChecks(stopping.signal), ...options.checks, ...views.checks],
    stopping: stopping.signal,
    address: port.address,
  })
  const shared = sharedByRequests(port, controllers.signal)
  for (const part of [port.connections, options.auditor]) part?.measure(options.metrics)
  const service = { ...options, ...shared, requestTimeout, stopping: stopping.signal }
  const app = appOnDemand(service, pipeline, options.files)
  port.answer(answeringWith(service, handlerOf(pipeline, options.tracing), app))
  const publishing = publishUrls({ ...options, viewUrls, signal: controllers.signal })
  return {
    port: port.port,
    url: port.url,
    useCertificate: port.useCertificate,
    async close(grace) {
      stopping.abort()
      await port.drain(grace)
      controllers.abort()
      await Promise.all([views.stopped, publishing])
    },
  }
}

function handlerOf(pipeline: Pipeline, tracing: Tracing | undefined): Handler {
  const handler: Handler = answerRequest.bind(undefined, pipeline)
  return tracing === undefined ? handler : traced(tracing, handler)
}

const withReviews = (
  pipeline: Omit<Pipeline, 'reviews'> & Pick<ServerOptions, 'watchReviewInterval'>,
): Pipeline => ({
  ...pipeline,
  reviews: new WatchReviews(mayGoOn.bind(undefined, pipeline), pipeline.watchReviewInterval),
})

/** What all requests share: the turns of bodies and lists, the thread that parses YAML until the signal, and connections. */
function sharedByRequests({ connections }: Port, stopped: AbortSignal) {
  const documents = new YamlReader()
  onAbort(stopped, () => documents.close())
  const yaml = documents.read.bind(documents)
  return { turns: new Turns(), yaml, slices: createSlices(), ...(connections && { connections }) }
}

const ownChecks = (stopping: AbortSignal): readonly HealthCheck[] => [
  { name: 'ping', live: true, healthy: () => true },
  { name: 'shutdown', healthy: () => !stopping.aborted },
]
