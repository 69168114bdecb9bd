import { type Authorizer, actionOf, allow, deny } from '../../framework/contract/authorizer.ts'
import { createContext, type RequestContext } from '../../framework/contract/context.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { notServed } from '../../framework/meta/errors.ts'
import { pathPattern } from '../../framework/request/path.ts'
import { isPrivileged } from '../../framework/request/user.ts'
import type { DecisionQuestion } from '../isolation/decision.ts'
import { decisionsPattern } from '../isolation/messages.ts'

/** Answers the server that started this process whether a view would allow a request, with all steps. */
export const decisions = (views: readonly VirtualWorkspace[], authorizer: Authorizer): VirtualWorkspace => ({
  name: 'oriel.dev.decisions',
  path: pathPattern(decisionsPattern),
  apis: () => undefined,
  authorize: async ({ user }) => (isPrivileged(user) ? allow('the server') : deny('access denied')),
  async http(ctx, request, response) {
    const asked = JSON.parse(Buffer.concat(await request.toArray()).toString()) as DecisionQuestion
    const view = views.find(({ name }) => name === asked.workspace)
    if (view === undefined) throw notServed()
    const about = contextOf(ctx, asked)
    const decide = view.explain ?? view.authorize
    const decision = await (decide?.call(view, about) ??
      authorizer.authorize(asked.user, actionOf(asked.info, asked.cluster), ctx.signal))
    response.setHeader('content-type', 'application/json').end(JSON.stringify(decision))
  },
})

function contextOf({ record, signal }: RequestContext, asked: DecisionQuestion): RequestContext {
  const { user } = asked
  return createContext({ ...asked, requestor: undefined, actAs: user, hops: 0, record, lifetime: { signal } })
}
