import type { Decision } from '../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { internalError } from '../../framework/meta/errors.ts'
import { jsonIn } from '../../framework/net/bodies.ts'
import { fetchText } from '../../framework/net/fetch.ts'
import { isDecision } from '../../framework/plugins/results.ts'
import type { Params } from '../../framework/request/path.ts'
import type { RequestInfo } from '../../framework/request/requestinfo.ts'
import { loopback, type UserInfo } from '../../framework/request/user.ts'
import { decisionsPattern } from './messages.ts'
import type { ViewProcess } from './viewprocess.ts'

/** A question to the process of a view: whether it would allow a request. */
export interface DecisionQuestion {
  readonly workspace: string
  readonly params: Params
  readonly cluster: string
  readonly info: RequestInfo
  readonly user: UserInfo
}

const limits = { timeout: 30_000, bytes: 1 << 20 }

/** Asks the process of a view for its decision with all steps, for `oriel explain`. */
export async function askDecision(process: ViewProcess, ctx: RequestContext): Promise<Decision> {
  const { workspace, params, cluster, info, user, signal } = ctx
  const question: DecisionQuestion = { workspace, params, cluster, info, user }
  const { status, text } = await fetchText(
    process.client,
    {
      origin: 'http://view',
      path: `${decisionsPattern}/clusters/*/decision`,
      method: 'POST',
      signal,
      headers: { ...process.headersOf(loopback), 'content-type': 'application/json' },
      body: JSON.stringify(question),
    },
    limits,
  )
  const decision = status === 200 ? jsonIn(text) : undefined
  if (isDecision(decision)) return decision
  throw internalError(`the view ${JSON.stringify(workspace)} did not decide: ${text.slice(0, 200)}`)
}
