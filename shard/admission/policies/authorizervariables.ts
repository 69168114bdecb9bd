import {
  type AuthorizationCheck,
  type AuthorizationDecision,
  type Authorize,
  authorizerValue,
  resourceCheckValue,
} from '../../../cel/library/authorizer.ts'
import { Paused, Replays } from '../../../cel/planner/replay.ts'
import { Pace } from '../../../framework/async/awaitable.ts'
import { requestedName } from '../../../framework/contract/admission.ts'
import type { Action, Authorizer } from '../../../framework/contract/authorizer.ts'
import { accountOf, type UserInfo } from '../../../framework/request/user.ts'
import { readableSelectors } from '../../../framework/selectors/parse.ts'
import type { Variables } from './evaluation.ts'
import type { Subject } from './matching.ts'

/** Thrown when an expression needs a decision that is not computed yet. */
class Undecided extends Error {
  readonly settled: Promise<unknown>
  constructor(settled: Promise<unknown>) {
    super('authorization decision pending')
    this.settled = settled
  }
}

/** The variables `authorizer` of the expressions for one request; each check is decided once. */
export class Decisions {
  readonly #authorizer: Authorizer
  readonly #subject: Subject
  readonly #known = new Map<string, AuthorizationDecision>()
  readonly #pace = new Pace()
  /** `authorizer` and `authorizer.requestResource`. */
  readonly variables: Variables

  constructor(authorizer: Authorizer, subject: Subject) {
    this.#authorizer = authorizer
    this.#subject = subject
    const { group, resource, subresource, key } = subject.request
    const name = requestedName(subject.request)
    const own = { group, resource, subresource, namespace: key.namespace, name }
    this.variables = {
      authorizer: authorizerValue(this.#ask),
      'authorizer.requestResource': resourceCheckValue(this.#ask, own),
    }
  }

  /** For several evaluations that `settled` makes one after the other. */
  newReplays(): Replays {
    const { user, requestor } = this.#subject.ctx
    return new Replays(accountOf(user, requestor))
  }

  /**
   * Evaluates, and evaluates again after each decision that it needed, and where it was interrupted; between two evaluations other requests
   * have their turns. Throws the reason of the request's signal.
   */
  async settled<T>(evaluate: (replays: Replays) => T): Promise<T> {
    const replays = this.newReplays()
    for (;;) {
      await this.#pace.due()
      this.#subject.ctx.signal.throwIfAborted()
      try {
        return evaluate(replays)
      } catch (error) {
        if (error instanceof Paused) await error.until
        else if (error instanceof Undecided) await error.settled
        else throw error
      }
    }
  }

  readonly #ask: Authorize = question => {
    const key = JSON.stringify(question)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    throw new Undecided(this.#decide(question).then(answer => this.#known.set(key, answer)))
  }

  async #decide(question: AuthorizationCheck): Promise<AuthorizationDecision> {
    const { ctx, request } = this.#subject
    const user = question.serviceAccount === undefined ? ctx.actAs : accountUser(question.serviceAccount)
    try {
      const action = actionOf(question, request.key.cluster)
      const { effect, reason } = await this.#authorizer.authorize(user, action, ctx.signal)
      return { allowed: effect === 'allow', reason, error: '' }
    } catch (error) {
      return { allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) }
    }
  }
}

const accountUser = ({ namespace, name }: NonNullable<AuthorizationCheck['serviceAccount']>): UserInfo => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
})

function actionOf(question: AuthorizationCheck, cluster: string): Action {
  const { verb, path, group = '', resource = '', subresource = '', namespace = '', name = '' } = question
  if (path !== undefined) return { verb, cluster, path }
  return {
    verb,
    cluster,
    resource: { group, version: '*', resource, subresource, namespace, name },
    ...readableSelectors(question.fieldSelector, question.labelSelector),
  }
}
