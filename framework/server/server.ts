import { setMaxListeners } from 'node:events'
import { Turns } from '../async/awaitable.ts'
import type { Auditor } from '../audit/index.ts'
import type { Backend } from '../contract/backend.ts'
import type { OpenApiDocuments } from '../contract/documents.ts'
import type { Informers } from '../contract/informer.ts'
import type { Logger } from '../contract/log.ts'
import type { Pages } from '../contract/pages.ts'
import type { Outbound } from '../contract/upstream.ts'
import type { VersionInfo } from '../contract/version.ts'
import type { VirtualWorkspace } from '../contract/workspace.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { onlyUrl, publishUrls, type ViewUrls } from '../publishing/publisher.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { IsIdentity } from '../request/incoming.ts'
import { appOnDemand } from './app.ts'
import type { HealthCheck } from './health.ts'
import { createInflight, defaultInflight, type InflightLimits } from './inflight.ts'
import { type Listener, type ListenOptions, openPort, type Port } from './listener.ts'
import { answerRequest } from './pipeline.ts'
import { runViews } from './readiness.ts'
import { checkViews, createRoutes } from './routes.ts'
import { answeringWith } from './serve.ts'

export interface ServerOptions {
  /** In the order in which they are asked. The plain `/clusters/…` endpoint is the one with an empty pattern. */
  readonly workspaces: readonly VirtualWorkspace[]
  readonly backend: Backend
  /** For publishing URLs. */
  readonly informers: Informers
  readonly authenticator: Authenticator
  /** Headers, in lower case, that carry identities besides Kubernetes' own. */
  readonly isIdentityHeader?: IsIdentity
  /** Without one, nothing is audited. */
  readonly auditor?: Auditor
  readonly documents: OpenApiDocuments
  readonly version: VersionInfo
  readonly log: Logger
  readonly metrics: Metrics
  /** Besides `ping`, `shutdown` and one for each view with controllers. */
  readonly checks: readonly HealthCheck[]
  readonly pages?: Pages
  /** What clients call this server, without a trailing slash; default: the server's own URL. */
  readonly publicUrl?: string
  /** What the published URLs of views start with; default: `publicUrl`. */
  readonly viewUrls?: ViewUrls
  /** The way to mounted servers; without it mounts of such are not served. */
  readonly outbound?: Outbound
  /** Milliseconds that a request may take which is not a watch; default 60,000. */
  readonly requestTimeout?: number
  /** Default: Kubernetes' own limits. */
  readonly inflight?: InflightLimits
}

export interface Server {
  readonly port: number
  /** `https://127.0.0.1:6443`: where it listens. */
  readonly url: string
  /** Serves new connections with what has changed; open ones stay. Throws, and changes nothing, on what is none. */
  readonly useCertificate: Listener['useCertificate']
  /**
   * Stops: `/readyz` fails, watches end, running answers complete for up to `grace` milliseconds, connections close,
   * and the views' controllers return.
   */
  close(grace: number): Promise<void>
}

/** Opens a port and serves views on it. Rejects with one sentence when they contradict each other or the port is taken. */
export async function createServer(options: ServerOptions & ListenOptions): Promise<Server> {
  checkViews(options.workspaces)
  return serveOn(await openPort(options), options)
}

/** Serves a list of views on an open port. Throws one sentence when they contradict each other. */
export function serveOn(port: Port, options: ServerOptions): Server {
  checkViews(options.workspaces)
  const stopping = new AbortController()
  const controllers = new AbortController()
  // Every view and every publisher listens.
  setMaxListeners(0, controllers.signal)
  const views = runViews(options.workspaces, options.log, controllers.signal)
  const requestTimeout = options.requestTimeout ?? 60_000
  const checks = [...ownChecks(stopping.signal), ...options.checks, ...views.checks]
  const { address, url } = port
  const inflight = createInflight(options.inflight ?? defaultInflight)
  const routes = createRoutes(options.workspaces)
  const pipeline = {
    ...options,
    routes,
    requestTimeout,
    inflight,
    views,
    checks,
    stopping: stopping.signal,
    address,
  }
  const turns = new Turns()
  const service = { ...options, requestTimeout, turns, stopping: stopping.signal }
  const app = appOnDemand(service, pipeline)
  port.answer(answeringWith(service, answerRequest.bind(undefined, pipeline), app))
  const viewUrls = options.viewUrls ?? onlyUrl(options.publicUrl ?? url)
  const publishing = publishUrls({ ...options, viewUrls, signal: controllers.signal })
  return {
    ...{ port: port.port, url, useCertificate: port.useCertificate },
    async close(grace) {
      stopping.abort()
      await port.drain(grace)
      controllers.abort()
      await Promise.all([views.stopped, publishing])
    },
  }
}

const ownChecks = (stopping: AbortSignal): readonly HealthCheck[] => [
  { name: 'ping', live: true, healthy: () => true },
  { name: 'shutdown', healthy: () => !stopping.aborted },
]
