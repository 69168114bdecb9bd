import Router from '@koa/router'
import Koa from 'koa'
import type { Auditor } from './audit/index.ts'
import type { Authenticator } from './authenticator.ts'
import type { Backend } from './backend.ts'
import type { OpenApiDocuments } from './documents.ts'
import { fixedEndpoints } from './endpoints.ts'
import type { HealthCheck } from './health.ts'
import type { IsIdentity } from './incoming.ts'
import type { Informers } from './informer.ts'
import { type Listener, type ListenOptions, listen } from './listener.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Pages } from './pages.ts'
import type { Outbound } from './passage.ts'
import { answerRequest, type Pipeline } from './pipeline.ts'
import { publishUrls } from './publisher.ts'
import { runViews } from './readiness.ts'
import { checkViews } from './resolve.ts'
import { type Handler, type Service, serve } from './serve.ts'
import type { VersionInfo } from './version.ts'
import type { VirtualWorkspace } from './workspace.ts'

export interface ServerOptions extends ListenOptions {
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
  /** What the published URLs of views start with, which may be another server's; default: `publicUrl`. */
  readonly viewsUrl?: string
  /** The way to mounted servers; without it mounts of such are not served. */
  readonly outbound?: Outbound
  /** Milliseconds that a request may take which is not a watch; default 60,000. */
  readonly requestTimeout?: number
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

/**
 * Starts a server for a list of views. Rejects with one sentence when views contradict each other or the port is
 * taken. The only place that knows Koa.
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  checkViews(options.workspaces)
  const stopping = new AbortController()
  const controllers = new AbortController()
  const views = runViews(options.workspaces, options.log, controllers.signal)
  const requestTimeout = options.requestTimeout ?? 60_000
  const checks = [...ownChecks(stopping.signal), ...options.checks, ...views.checks]
  const pipeline = { ...options, requestTimeout, views, checks, stopping: stopping.signal, address: '' }
  const service = { ...options, requestTimeout, isStopping: () => stopping.signal.aborted }
  try {
    const app = appFor(service, pipeline).callback()
    const listener = await listen(options, app, (request, response, upgrade) => {
      // Only what a view passes on can speak another protocol.
      if (!isView.test(request.url ?? '')) app(request, response)
      else void serve(service, { request, response, upgrade }, exchange => answerRequest(pipeline, exchange))
    })
    pipeline.address = `${urlHost(options.host)}:${listener.port}`
    const url = `${options.tls === undefined ? 'http' : 'https'}://${pipeline.address}`
    const baseUrl = options.viewsUrl ?? options.publicUrl ?? url
    const publishing = publishUrls({ ...options, baseUrl, signal: controllers.signal })
    const close = async (grace: number): Promise<void> => {
      stopping.abort()
      await listener.drain(grace)
      controllers.abort()
      await Promise.all([views.stopped, publishing])
    }
    const { port, useCertificate } = listener
    return { port, url, useCertificate, close }
  } catch (error) {
    controllers.abort()
    throw error
  }
}

const ownChecks = (stopping: AbortSignal): readonly HealthCheck[] => [
  { name: 'ping', live: true, healthy: () => true },
  { name: 'shutdown', healthy: () => !stopping.aborted },
]

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const isView = /^\/(clusters|services)\//

/** Koa once: @koa/router has the fixed paths, our own parser everything else. Answers are written by `respond`. */
function appFor(service: Service, pipeline: Pipeline): Koa {
  const app = new Koa()
  // Clients that leave are not errors of ours, and whatever else fails has been answered and logged by `serve`.
  app.on('error', () => undefined)
  const answering =
    (handler: Handler): Koa.Middleware =>
    koa => {
      koa.respond = false
      return serve(service, { request: koa.req, response: koa.res }, handler)
    }
  const router = new Router({ sensitive: true })
  for (const [path, handler] of fixedEndpoints(pipeline, service.metrics))
    router.get(path, answering(handler))
  const answerView = answering(exchange => answerRequest(pipeline, exchange))
  // Views first: matching the fixed paths costs as much as the rest of finding a view.
  app.use((koa, next) => (isView.test(koa.req.url ?? '') ? answerView(koa, next) : next()))
  app.use(router.routes())
  app.use(answerView)
  return app
}
