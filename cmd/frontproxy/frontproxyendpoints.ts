import { forbiddenTo } from '../../framework/contract/authorize.ts'
import { unauthorized } from '../../framework/meta/errors.ts'
import type { Metrics } from '../../framework/metrics/metrics.ts'
import type { Authenticator } from '../../framework/request/authenticator.ts'
import type { Answer } from '../../framework/request/response.ts'
import { anonymous } from '../../framework/request/user.ts'
import { userOf } from '../../framework/server/authenticate.ts'
import { type HealthCheck, healthAnswer } from '../../framework/server/health.ts'
import type { Exchange, Handler } from '../../framework/server/serve.ts'
import type { Reviewer } from '../../proxy/access.ts'

export interface FixedEndpoints {
  readonly checks: readonly HealthCheck[]
  readonly metrics: Metrics
  readonly review: Reviewer
  readonly authenticator: Authenticator
}

/** The proxy's own endpoints (chapter 30, section 3.2); `/healthz` is not among them and goes through the mappings. */
export const fixedFrontEndpoints =
  (own: FixedEndpoints, otherwise: Handler): Handler =>
  async exchange => {
    const { path, query } = exchange.incoming
    if (/^\/(readyz|livez)(\/|$)/.test(path)) return healthAnswer(own.checks, path, query)
    return path === '/metrics' ? metrics(own, exchange) : otherwise(exchange)
  }

/** For those whom the policy of `root` lets read them. */
async function metrics(
  { authenticator, metrics, review }: FixedEndpoints,
  exchange: Exchange,
): Promise<Answer> {
  const user = await userOf(authenticator, exchange)
  if (user === anonymous) throw unauthorized()
  const action = { cluster: 'root', path: '/metrics', verb: 'get' }
  if (!(await review(user, action, exchange.lifetime.signal)))
    throw forbiddenTo(user, { isResource: false, verb: 'get', path: '/metrics' })
  const { contentType, body } = await metrics.text()
  return { status: 200, contentType, body: Buffer.from(body) }
}
