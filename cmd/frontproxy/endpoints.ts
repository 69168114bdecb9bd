import { forbiddenTo } from '../../framework/contract/authorizer.ts'
import { unauthorized } from '../../framework/meta/errors.ts'
import type { Metrics } from '../../framework/metrics/metrics.ts'
import type { Authenticator } from '../../framework/request/authenticator.ts'
import type { Answer } from '../../framework/request/response.ts'
import { anonymous } from '../../framework/request/user.ts'
import { refuseImpersonation, userOf } from '../../framework/server/access.ts'
import { type HealthCheck, healthAnswer } from '../../framework/server/health.ts'
import { CpuProfiler, heapHandler, heapPath } from '../../framework/server/profiling.ts'
import type { Exchange, Handler } from '../../framework/server/serve.ts'
import type { Reviewer } from '../../proxy/access.ts'

export interface FrontEndpoints {
  readonly checks: readonly HealthCheck[]
  readonly metrics: Metrics
  readonly review: Reviewer
  readonly authenticator: Authenticator
}

/**
 * The endpoints that the proxy answers itself (kcp pkg/proxy/server.go), and profiles of its process; `/healthz` is forwarded by the
 * mappings.
 */
export function frontEndpoints(own: FrontEndpoints, otherwise: Handler): Handler {
  const handlers: Readonly<Record<string, Handler>> = {
    '/metrics': exchange => metrics(own, exchange),
    '/debug/pprof/profile': profileHandler(own, new CpuProfiler()),
    [heapPath]: heapHandler(own.authenticator),
  }
  return exchange => {
    const { path, query } = exchange.incoming
    if (/^\/(readyz|livez)(\/|$)/.test(path)) return healthAnswer(own.checks, path, query)
    return (Object.hasOwn(handlers, path) ? (handlers[path] ?? otherwise) : otherwise)(exchange)
  }
}

/** Throws 403 unless the user may get the path in the logical cluster `root`. */
async function authorizePath({ authenticator, review }: FrontEndpoints, exchange: Exchange): Promise<void> {
  const user = await userOf(authenticator, exchange)
  if (user === anonymous) throw unauthorized()
  const { path } = exchange.incoming
  const action = { cluster: 'root', path, verb: 'get' }
  if (!(await review(user, action, exchange.lifetime.signal)))
    throw forbiddenTo(user, { isResource: false, verb: 'get', path })
}

async function metrics(own: FrontEndpoints, exchange: Exchange): Promise<Answer> {
  await authorizePath(own, exchange)
  const { contentType, body } = await own.metrics.text()
  return { status: 200, contentType, body: Buffer.from(body) }
}

const profileHandler =
  (own: FrontEndpoints, profiler: CpuProfiler): Handler =>
  async exchange => {
    refuseImpersonation(exchange.incoming)
    await authorizePath(own, exchange)
    return profiler.answer(exchange.incoming.query, exchange.lifetime)
  }
