import type { IncomingMessage } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import type { RequestContext } from 'oriel/framework'
import type { ViewPlugin } from 'oriel/plugin'

/** Plain HTTP below the path of a view, behind its authorizer: a report of the config maps of a logical cluster, as text and as JSON. */
const report: ViewPlugin = ({ allow, apiSetOf, defineVirtualWorkspace, deny }) =>
  defineVirtualWorkspace('report', '/services/report', ({ informers }) => {
    const configMaps = informers.for({ group: '', version: 'v1', resource: 'configmaps' })
    const contexts = new WeakMap<IncomingMessage, RequestContext>()
    const namesFor = (request: IncomingMessage) =>
      configMaps
        .list(contexts.get(request)?.cluster)
        .map(({ key }) => `${key.namespace}/${key.name}`)
        .sort()
    const router = new Router()
    router.get('/report', ctx => {
      ctx.body = `${namesFor(ctx.req).join('\n')}\n`
    })
    router.get('/report.json', ctx => {
      ctx.body = { by: contexts.get(ctx.req)?.user.name, names: namesFor(ctx.req) }
    })
    const answer = new Koa().use(router.routes()).use(router.allowedMethods()).callback()
    const apis = apiSetOf([])
    return {
      apis: () => apis,
      authorize: async ({ cluster, user }) =>
        cluster !== '*' && user.groups.includes('auditors') ? allow('an auditor') : deny('not an auditor'),
      http: (ctx, request, response) => {
        contexts.set(request, ctx)
        return answer(request, response)
      },
      run: async ready => {
        await configMaps.synced
        ready()
      },
    }
  })

export default report
