import { forbiddenTo } from '../../framework/contract/authorizer.ts'
import { unauthorized } from '../../framework/meta/errors.ts'
import type { Metrics } from '../../framework/metrics/metrics.ts'
import type { Authenticator } from '../../framework/request/authenticator.ts'
import { anonymous } from '../../framework/request/user.ts'
import { refuseImpersonation, userOf } from '../../framework/server/access.ts'
import { type HealthCheck, healthAnswer } from '../../framework/server/health.ts'
import { processEndpoints } from '../../framework/server/processendpoints.ts'
import { heapHandler, heapPath } from '../../framework/server/profiling.ts'
import type { Exchange, Handler } from '../../framework/server/serve.ts'
import { type StaticFiles, staticHandlers } from '../../framework/server/staticfiles.ts'
import type { Reviewer } from '../../proxy/access.ts'

export interface FrontEndpoints {
  readonly checks: readonly HealthCheck[]
  readonly metrics: Metrics
  readonly review: Reviewer
  readonly authenticator: Authenticator
  /** The files of the console. */
  readonly files: StaticFiles
  /** Whether the mapping file names a server for the path; `/` names none. */
  readonly isMapped: (path: string) => boolean
}

/**
 * The endpoints that the proxy answers itself (kcp pkg/proxy/server.go), profiles of its process, and the console, whose requests for data
 * are forwarded. `/healthz` is forwarded by the mappings.
 */
export function frontEndpoints(own: FrontEndpoints, otherwise: Handler): Handler {
  const endpoints = new Map([
    ...processEndpoints(own.metrics, (exchange, path) => authorizePath(own, exchange, path)),
    [heapPath, heapHandler(own.authenticator)] as const,
  ])
  const files = staticHandlers(own.files)
  return exchange => {
    const { method, path, query } = exchange.incoming
    if (/^\/(readyz|livez)(\/|$)/.test(path)) return healthAnswer(own.checks, path, query)
    const file = isRead(method) && !own.isMapped(path) ? files.get(path) : undefined
    return (endpoints.get(path) ?? file ?? otherwise)(exchange)
  }
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

/** Throws 403 unless the user may get the path in the logical cluster `root`. */
async function authorizePath(
  { authenticator, review }: FrontEndpoints,
  exchange: Exchange,
  path: string,
): Promise<void> {
  const user = await userOf(authenticator, exchange)
  if (user === anonymous) throw unauthorized()
  refuseImpersonation(exchange.incoming)
  const action = { cluster: 'root', path, verb: 'get' }
  if (!(await review(user, action, exchange.lifetime.signal)))
    throw forbiddenTo(user, { isResource: false, verb: 'get', path })
}
