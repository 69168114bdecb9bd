import { forbiddenTo } from '../contract/authorizer.ts'
import { flowReports } from '../fairness/report.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Incoming } from '../request/incoming.ts'
import type { Answer } from '../request/response.ts'
import { isPrivileged } from '../request/user.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { negotiate } from '../responses/negotiation.ts'
import { refuseImpersonation, userOf } from './access.ts'
import { healthAnswer } from './health.ts'
import type { Pipeline } from './pipeline.ts'
import type { Exchange, Handler } from './serve.ts'

/**
 * The endpoints outside of logical clusters: health and version for all users, metrics and flows for privileged users. Invalid
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
    [flowsPath, flowsHandler(pipeline)],
  ])
}

/** Throws 403 unless the user is privileged, or has the verb `get` on the path in the root workspace: it covers all tenants. */
async function authorizePath(
  { authenticator, backend }: Pipeline,
  exchange: Exchange,
  path: string,
): Promise<void> {
  const user = await userOf(authenticator, exchange)
  refuseImpersonation(exchange.incoming)
  if (isPrivileged(user)) return
  const action = { verb: 'get', cluster: 'root', path }
  const decision = await backend.authorizer.authorize(user, action, exchange.lifetime.signal)
  if (decision.effect !== 'allow')
    throw forbiddenTo(user, { isResource: false, verb: 'get', path }, decision.reason)
}

const metricsHandler =
  (pipeline: Pipeline, metrics: Metrics): Handler =>
  async (exchange): Promise<Answer> => {
    await authorizePath(pipeline, exchange, '/metrics')
    const { contentType, body } = await metrics.text()
    return { status: 200, contentType, body: Buffer.from(body) }
  }

const flowsPath = '/debug/api_priority_and_fairness/flows'

const flowsHandler =
  (pipeline: Pipeline): Handler =>
  async (exchange): Promise<Answer> => {
    await authorizePath(pipeline, exchange, flowsPath)
    const flows = flowReports(pipeline.fairness)
    return documentAnswer({ flows }, negotiate(exchange.incoming, 'documents'))
  }
