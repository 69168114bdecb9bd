import { forbiddenTo } from '../contract/authorizer.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Incoming } from '../request/incoming.ts'
import type { Answer } from '../request/response.ts'
import { isPrivileged } from '../request/user.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { negotiate } from '../responses/negotiation.ts'
import { refuseImpersonation, userOf } from './access.ts'
import { healthAnswer } from './health.ts'
import type { Pipeline } from './pipeline.ts'
import type { Handler } from './serve.ts'

/**
 * The endpoints outside of logical clusters: health and version for all users, metrics for privileged users. Invalid
 * credentials are 401.
 */
export function fixedEndpoints(pipeline: Pipeline, metrics: Metrics): ReadonlyMap<string, Handler> {
  const forAll =
    (answer: (incoming: Incoming) => Answer | Promise<Answer>): Handler =>
    async exchange => {
      await userOf(pipeline.authenticator, exchange)
      return answer(exchange.incoming)
    }
  const health = forAll(({ path, query }) => healthAnswer(pipeline.checks, path, query))
  return new Map<string, Handler>([
    ['/healthz{/*check}', health],
    ['/livez{/*check}', health],
    ['/readyz{/*check}', health],
    ['/version', forAll(incoming => documentAnswer(pipeline.version, negotiate(incoming, 'documents')))],
    ['/metrics', metricsHandler(pipeline, metrics)],
  ])
}

/** Metrics cover all tenants: for privileged users, and for users with `get` on `/metrics` in the root workspace. */
const metricsHandler =
  ({ authenticator, backend }: Pipeline, metrics: Metrics): Handler =>
  async (exchange): Promise<Answer> => {
    const { incoming, lifetime } = exchange
    const user = await userOf(authenticator, exchange)
    refuseImpersonation(incoming)
    if (!isPrivileged(user)) {
      const action = { verb: 'get', cluster: 'root', path: '/metrics' }
      const decision = await backend.authorizer.authorize(user, action, lifetime.signal)
      const info = { isResource: false, verb: 'get', path: '/metrics' } as const
      if (decision.effect !== 'allow') throw forbiddenTo(user, info, decision.reason)
    }
    const { contentType, body } = await metrics.text()
    return { status: 200, contentType, body: Buffer.from(body) }
  }
