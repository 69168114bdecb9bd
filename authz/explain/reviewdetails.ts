import type { Action, Authorizer } from '../../framework/contract/authorizer.ts'
import { printStep } from '../../framework/contract/decisionsteps.ts'
import { type AuthorizerAttributes, attributesFor } from '../chain/attributes.ts'
import { isLocalServiceAccount } from '../rbac/effectiveusers.ts'
import type { DecisionDetails } from './decisiondetails.ts'
import { type Missing, noAccess, noRule } from './diagnosis.ts'
import type { ExplainedStep, ExplainRequest } from './visibility.ts'

/** The result of reviewing one part of the chain. */
type Part = Pick<Missing, 'authorizer' | 'why' | 'grant'> & { readonly passes: boolean }
type Asked = Omit<ExplainRequest, 'requester'>
/** Whether the action is allowed. */
type Ask = (action: Action) => Promise<boolean>

/**
 * Details from an authorizer that returns no reasons, such as another server's. Separate reviews of access to the
 * workspace and of RBAC alone (deep) show which part refuses.
 */
export const detailsFromReviews = (authorizer: Authorizer): DecisionDetails => ({
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
  const attributes = attributesFor(user, action)
  const found = await Promise.all([entrance(ask, attributes), rule(ask, attributes)])
  if (!found.every(({ passes }) => passes)) return found
  return [...found, { ...policy, passes: await ask(action) }]
}

/** Whether the user may enter the workspace. Deep reviews skip this part. */
async function entrance(ask: Ask, attributes: AuthorizerAttributes): Promise<Part> {
  const { user, action } = attributes
  const { cluster, deep = false } = action
  const enter: Action = { verb: 'access', cluster, path: '/' }
  const isInside = deep || isLocalServiceAccount(user, cluster) || (await ask(enter))
  const part = { ...noAccess(attributes), passes: isInside }
  return isInside || !(await ask({ ...enter, deep: true })) ? part : closed
}

async function rule(ask: Ask, attributes: AuthorizerAttributes): Promise<Part> {
  return { ...noRule(attributes), passes: await ask({ ...attributes.action, deep: true }) }
}

const closed: Part = {
  authorizer: '01-requiredgroups',
  passes: false,
  why: 'The workspace requires groups that the user does not have, or its phase does not permit access.',
  grant: [],
}

const policy = {
  authorizer: '04-maxpermissionpolicy',
  why: 'The maximal permission policy of the APIExport does not grant this.',
  grant: [],
}
