import type { RequestListener } from 'node:http'
import type Koa from 'koa'
import { changingEndpoints, fixedEndpoints } from './endpoints.ts'
import { answerRequest, type Pipeline } from './pipeline.ts'
import { type Handler, type Service, serve } from './serve.ts'
import { type StaticFiles, staticHandlers } from './staticfiles.ts'

/**
 * Handles requests outside of views: @koa/router has the fixed paths. Koa is loaded on the first such request, because
 * loading takes a large part of the start time.
 */
export function appOnDemand(
  service: Service,
  pipeline: Pipeline,
  files: StaticFiles = new Map(),
): RequestListener {
  let app: RequestListener | undefined
  let loading: Promise<RequestListener> | undefined
  return (request, response) => {
    if (app !== undefined) return app(request, response)
    loading ??= loadApp(service, pipeline, files)
    void loading.then(loaded => {
      app = loaded
      app(request, response)
    })
  }
}

async function loadApp(service: Service, pipeline: Pipeline, files: StaticFiles): Promise<RequestListener> {
  const [{ default: Koa }, { default: Router }] = await Promise.all([import('koa'), import('@koa/router')])
  const app = new Koa()
  // Disconnected clients are not errors, and `serve` has logged all other errors.
  app.on('error', () => undefined)
  const answering =
    (handler: Handler): Koa.Middleware =>
    async koa => {
      koa.respond = false
      await serve(service, { request: koa.req, response: koa.res }, handler)
    }
  const router = new Router({ sensitive: true })
  for (const [path, handler] of fixedEndpoints(pipeline, service.metrics))
    router.get(path, answering(handler))
  for (const [path, handler] of staticHandlers(files)) router.get(path, answering(handler))
  for (const [path, handler] of changingEndpoints(pipeline, service.log)) router.put(path, answering(handler))
  app.use(router.routes())
  app.use(answering(exchange => answerRequest(pipeline, exchange)))
  return app.callback()
}
