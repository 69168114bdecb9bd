import type { RequestListener } from 'node:http'
import type Koa from 'koa'
import { fixedEndpoints } from './endpoints.ts'
import { answerRequest, type Pipeline } from './pipeline.ts'
import { type Handler, type Service, serve } from './serve.ts'

/**
 * Everything but the views: @koa/router has the fixed paths. Answers are written by `respond`. The only place that knows
 * Koa. It is loaded with the first request: it and what it needs would be a good part of a start.
 */
export function appOnDemand(service: Service, pipeline: Pipeline): RequestListener {
  let app: RequestListener | undefined
  let loading: Promise<RequestListener> | undefined
  return (request, response) => {
    if (app !== undefined) return app(request, response)
    loading ??= loadApp(service, pipeline)
    void loading.then(loaded => {
      app = loaded
      app(request, response)
    })
  }
}

async function loadApp(service: Service, pipeline: Pipeline): Promise<RequestListener> {
  const [{ default: Koa }, { default: Router }] = await Promise.all([import('koa'), import('@koa/router')])
  const app = new Koa()
  // Clients that leave are not errors of ours, and whatever else fails has been answered and logged by `serve`.
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
  app.use(router.routes())
  app.use(answering(exchange => answerRequest(pipeline, exchange)))
  return app.callback()
}
