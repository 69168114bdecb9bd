import type { Action, Authorizer } from '../../framework/contract/authorizer.ts'
import { printStep } from '../../framework/contract/decisionsteps.ts'
import { type AuthorizerAttributes, attributesFor } from '../chain/attributes.ts'
import { isLocalServiceAccount } from '../rbac/effectiveusers.ts'
import { type Missing, noAccess, noRule } from './diagnosis.ts'
import type { ExplainedStep, ExplainRequest } from './disclosure.ts'
import type { Insight } from './insight.ts'

/** What one part of a chain has said to a question that nobody else there refuses. */
type Part = Pick<Missing, 'authorizer' | 'why' | 'grant'> & { readonly passes: boolean }
type Asked = Omit<ExplainRequest, 'asker'>
/** Whether the action is allowed. */
type Ask = (action: Action) => Promise<boolean>

/**
 * Of an authorizer elsewhere, which says yes or no and no more. Whether the user may enter the workspace, and whether he
 * might do it once he is inside, tells apart what it refuses for.
 */
export const insightByAsking = (authorizer: Authorizer): Insight => ({
  async steps(request, decision) {
    const own = printStep(decision)
    return decision.effect === 'allow' ? [own] : [own, ...(await partsOf(authorizer, request)).map(printPart)]
  },
  async missing(asked) {
    const parts = await partsOf(authorizer, asked)
    const { cluster } = asked.action
    return parts
      .filter(({ passes }) => !passes)
      .map(({ authorizer: by, why, grant }) => ({ authorizer: by, cluster, why, grant }))
  },
})

const printPart = ({ authorizer, passes, why }: Part): ExplainedStep =>
  passes
    ? { authorizer, decision: 'Allowed', reason: '' }
    : { authorizer, decision: 'NoOpinion', reason: why }

async function partsOf(authorizer: Authorizer, { user, action, signal }: Asked): Promise<readonly Part[]> {
  const ask: Ask = async wanted => (await authorizer.authorize(user, wanted, signal)).effect === 'allow'
  const asking = attributesFor(user, action)
  const found = await Promise.all([entrance(ask, asking), rule(ask, asking)])
  if (!found.every(({ passes }) => passes)) return found
  return [...found, { ...policy, passes: await ask(action) }]
}

/** Past it, a question is deep. */
async function entrance(ask: Ask, asking: AuthorizerAttributes): Promise<Part> {
  const { user, action } = asking
  const { cluster, deep = false } = action
  const enter: Action = { verb: 'access', cluster, path: '/' }
  const isInside = deep || isLocalServiceAccount(user, cluster) || (await ask(enter))
  const part = { ...noAccess(asking), passes: isInside }
  return isInside || !(await ask({ ...enter, deep: true })) ? part : closed
}

async function rule(ask: Ask, asking: AuthorizerAttributes): Promise<Part> {
  return { ...noRule(asking), passes: await ask({ ...asking.action, deep: true }) }
}

const closed: Part = {
  authorizer: '01-requiredgroups',
  passes: false,
  why: 'The workspace requires groups that the user is not in, or is in no phase in which it may be entered.',
  grant: [],
}

const policy = {
  authorizer: '04-maxpermissionpolicy',
  why: 'The maximal permission policy of the APIExport does not grant this.',
  grant: [],
}
