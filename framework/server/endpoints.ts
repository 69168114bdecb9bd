import { forbiddenTo } from '../contract/authorizer.ts'
import { type Logger, type LogLevel, levelOfVerbosity, logLevels } from '../contract/log.ts'
import { flowReports } from '../fairness/report.ts'
import { badRequest, notServed } from '../meta/errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Incoming } from '../request/incoming.ts'
import type { Answer } from '../request/response.ts'
import { isPrivileged } from '../request/user.ts'
import { documentAnswer } from '../responses/documentanswer.ts'
import { negotiate } from '../responses/negotiation.ts'
import { text } from '../responses/textanswer.ts'
import { refuseImpersonation, userOf } from './access.ts'
import { healthAnswer } from './health.ts'
import type { Pipeline } from './pipeline.ts'
import { processEndpoints } from './processendpoints.ts'
import { heapHandler, heapPath } from './profiling.ts'
import type { Exchange, Handler } from './serve.ts'

/**
 * The endpoints outside of logical clusters: health and version for all users, metrics, flows and profiles for privileged
 * users. Invalid credentials are 401.
 */
export function fixedEndpoints(pipeline: Pipeline, metrics: Metrics): ReadonlyMap<string, Handler> {
  const forAll =
    (answer: (incoming: Incoming) => Answer | Promise<Answer>): Handler =>
    async exchange => {
      await userOf(pipeline.authenticator, exchange)
      return answer(exchange.incoming)
    }
  const health: Handler = async exchange => {
    const { path, query } = exchange.incoming
    if (pipeline.authorizesHealth === true) await authorizePath(pipeline, exchange, healthPath(path))
    else await userOf(pipeline.authenticator, exchange)
    return healthAnswer(pipeline.checks, path, query)
  }
  return new Map<string, Handler>([
    ['/healthz{/*check}', health],
    ['/livez{/*check}', health],
    ['/readyz{/*check}', health],
    ['/version', forAll(incoming => documentAnswer(pipeline.version, negotiate(incoming, 'documents')))],
    ...processEndpoints(metrics, (exchange, path) => authorizePath(pipeline, exchange, path)),
    [flowsPath, flowsHandler(pipeline)],
    [heapPath, heapHandler(pipeline.authenticator)],
  ])
}

/** `/readyz/ping` → `/readyz`: who may see a check may see its parts. */
const healthPath = (path: string): string => path.split('/', 2).join('/')

/** The endpoints for PUT requests. */
export const changingEndpoints = (pipeline: Pipeline, log: Logger): ReadonlyMap<string, Handler> =>
  new Map([[verbosityPath, verbosityHandler(pipeline, log)]])

/** Throws 403 unless the user is privileged, or has the verb on the path in the root workspace: it covers all tenants. */
async function authorizePath(
  { authenticator, backend }: Pipeline,
  exchange: Exchange,
  path: string,
  verb: 'get' | 'put' = 'get',
): Promise<void> {
  const user = await userOf(authenticator, exchange)
  refuseImpersonation(exchange.incoming)
  if (isPrivileged(user)) return
  const action = { verb, cluster: 'root', path }
  const decision = await backend.authorizer.authorize(user, action, exchange.lifetime.signal)
  if (decision.effect !== 'allow') throw forbiddenTo(user, { isResource: false, verb, path }, decision.reason)
}

const flowsPath = '/debug/api_priority_and_fairness/flows'

const flowsHandler =
  (pipeline: Pipeline): Handler =>
  async (exchange): Promise<Answer> => {
    await authorizePath(pipeline, exchange, flowsPath)
    const flows = flowReports(pipeline.fairness)
    return documentAnswer({ flows }, negotiate(exchange.incoming, 'documents'))
  }

/** As in kube-apiserver (`k8s.io/apiserver/pkg/server/routes/flags.go`). */
const verbosityPath = '/debug/flags/v'

const verbosityHandler =
  (pipeline: Pipeline, log: Logger): Handler =>
  async (exchange): Promise<Answer> => {
    await authorizePath(pipeline, exchange, verbosityPath, 'put')
    if (log.setLevel === undefined) throw notServed()
    const given = (await exchange.incoming.body(64)).toString().trim()
    log.setLevel(levelOf(given))
    return text(200, `successfully set klog.logging.verbosity to ${given}`)
  }

/** A level by its name, or by the verbosity of klog: 2 and 3 are info, 4 and above are debug. */
function levelOf(given: string): LogLevel {
  const named = logLevels.find(level => level === given)
  if (named !== undefined) return named
  if (!/^\d{1,2}$/.test(given))
    throw badRequest(
      `${JSON.stringify(given)} is not a verbosity from 0 to 10, and not one of ${logLevels.join(', ')}`,
    )
  return levelOfVerbosity(Number(given))
}
