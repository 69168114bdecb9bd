import {
  type Action,
  type Authorizer,
  actionOf,
  allow,
  clusterDecision,
  type Decision,
} from '../../framework/contract/authorizer.ts'
import { createContext, type Recorder, type RequestContext } from '../../framework/contract/context.ts'
import { printStep } from '../../framework/contract/decisionsteps.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import type { Params } from '../../framework/request/path.ts'
import type { RequestInfo, Verb } from '../../framework/request/requestinfo.ts'
import { isPrivileged } from '../../framework/request/user.ts'
import { attributesFor } from '../chain/attributes.ts'
import { sentenceOf } from './diagnosis.ts'
import {
  type ExplainedMissing,
  type ExplainedStep,
  type ExplainRequest,
  type Explanation,
  limited,
  mayAskIn,
  shown,
} from './disclosure.ts'
import type { Insight } from './insight.ts'

/** A request to a view that somebody wants to have explained, in the logical cluster that decides about the view. */
export interface ViewExplainRequest extends ExplainRequest {
  /** `/services/apiexport/<cluster>/<export>/clusters/<name or *>` */
  readonly url: string
  readonly record: Recorder
}

export interface ViewExplaining {
  readonly authorizer: Authorizer
  readonly insight: Insight
  readonly views: () => readonly VirtualWorkspace[]
}

/**
 * What a view asks, whom, and what each of them says. Who may ask in one logical cluster is told what was said there,
 * and of the others only that they had a say: what exists there is their business.
 */
export async function explainView(parts: ViewExplaining, request: ViewExplainRequest): Promise<Explanation> {
  const { workspace, ctx } = viewOf(parts.views(), request)
  const decision = await decisionOf(parts, workspace, ctx)
  const { cluster = ctx.cluster } = decision
  if (cluster !== request.action.cluster)
    throw badRequest(`who may use ${JSON.stringify(request.url)} is not decided in this workspace`)
  const allowed = decision.effect === 'allow'
  const steps = (decision.trace ?? []).map(step => ({ ...step, cluster: step.cluster ?? cluster }))
  if (!(await mayAskIn(parts.authorizer, request, cluster))) return limitedTo(parts, request, allowed, steps)
  const told = (await Promise.all(steps.map(step => stepsAt(parts, request, step)))).flat()
  const missing = (await Promise.all(steps.map(step => missingAt(parts, request, step)))).flat()
  const isHidden = !allowed && told.some(step => step.decision === 'Withheld')
  return { allowed, steps: told, missing: isHidden ? [...missing, elsewhereToo] : missing }
}

/** The same whether it is so or not: what is missing in a workspace is only for who may ask there. */
const elsewhereToo: ExplainedMissing = {
  authorizer: 'others',
  workspace: '',
  elsewhere: true,
  why: 'Workspaces where you may not ask have a say, too. Who may create subjectaccessreviews there is told.',
  grant: [],
}

interface Found {
  readonly workspace: VirtualWorkspace
  readonly ctx: RequestContext
}

/** Throws 400. */
function viewOf(views: readonly VirtualWorkspace[], request: ViewExplainRequest): Found {
  for (const workspace of views) {
    if (workspace.path.pattern === '') continue
    const found = workspace.path.parse(request.url)
    if (found?.rest === '/') return { workspace, ctx: contextOf(workspace, request, found) }
  }
  throw badRequest(`${JSON.stringify(request.url)} is not the URL of a view`)
}

function contextOf(
  workspace: VirtualWorkspace,
  { user, action, signal, record }: ViewExplainRequest,
  { params, cluster }: { readonly params: Params; readonly cluster: string },
): RequestContext {
  const { name } = workspace
  const about = { workspace: name, params, cluster, info: infoOf(action), user, requestor: undefined }
  const parts = { ...about, hops: 0, record, lifetime: { signal } }
  const asked = createContext({ ...parts, actAs: user })
  return createContext({ ...parts, actAs: workspace.actAs?.(asked) ?? user })
}

function infoOf({ verb, resource, path = '' }: Action): RequestInfo {
  if (resource === undefined) return { isResource: false, verb, path }
  return { isResource: true, ...resource, verb: verb as Verb, path }
}

/** Views that ask the plain question have one step, and so have those that ask nobody. */
async function decisionOf(
  { authorizer }: ViewExplaining,
  workspace: VirtualWorkspace,
  ctx: RequestContext,
): Promise<Decision> {
  const { cluster, user, signal, info } = ctx
  const ask = workspace.explain ?? workspace.authorize
  const answer = await (ask?.(ctx) ?? authorizer.authorize(user, actionOf(info, cluster), signal))
  // Nothing but a guard stops them.
  if (isPrivileged(user) && workspace.guard === undefined)
    return { ...answer, effect: 'allow', trace: [allow('member of system:masters', 'AlwaysAllowGroups')] }
  if (answer.asked !== undefined)
    return { ...answer, trace: [clusterDecision(cluster, `virtual.${workspace.name}`, answer)] }
  const named = (step: Decision): Decision => ({
    ...step,
    authorizer: step.authorizer || `virtual.${workspace.name}`,
  })
  const reason = answer.reason || `the view ${JSON.stringify(workspace.name)} gives no reason`
  return { ...answer, trace: (answer.trace ?? [{ ...answer, reason }]).map(named) }
}

type Step = Decision & { readonly cluster: string }

const questionOf = ({ trace }: Step): Decision['asked'] => trace?.[0]?.asked

/** About himself, somebody inside the deciding workspace is told what he lacks there. */
async function limitedTo(
  { insight }: ViewExplaining,
  { action: { cluster }, signal }: ViewExplainRequest,
  allowed: boolean,
  steps: readonly Step[],
): Promise<Explanation> {
  const refused = steps.find(step => step.cluster === cluster && step.effect !== 'allow')
  const asked = refused && questionOf(refused)
  if (asked === undefined) return { allowed, limited: true, steps: [], missing: [] }
  const missing = await insight.missing({ ...asked, signal })
  return limited(allowed, missing, attributesFor(asked.user, asked.action))
}

async function stepsAt(
  { authorizer, insight }: ViewExplaining,
  request: ViewExplainRequest,
  step: Step,
): Promise<readonly ExplainedStep[]> {
  const { cluster: workspace, authorizer: by = '' } = step
  if (!(await mayAskIn(authorizer, request, workspace)))
    return [{ authorizer: by, decision: 'Withheld', reason: 'it lies in a workspace where you may not ask' }]
  const own = printStep(step)
  const [answer] = step.trace ?? []
  if (answer?.asked === undefined) return [own]
  const inner = await insight.steps({ ...request, ...answer.asked }, answer)
  return [own, ...inner.map(each => ({ ...each, workspace }))]
}

async function missingAt(
  { authorizer, insight }: ViewExplaining,
  request: ViewExplainRequest,
  step: Step,
): Promise<readonly ExplainedMissing[]> {
  const { cluster: workspace, authorizer: by = '' } = step
  if (step.effect === 'allow' || !(await mayAskIn(authorizer, request, workspace))) return []
  const elsewhere = workspace === request.action.cluster ? {} : { elsewhere: true as const }
  const asked = questionOf(step)
  if (asked === undefined)
    return [{ authorizer: by, workspace, ...elsewhere, why: sentenceOf(step), grant: [] }]
  const found = await insight.missing({ ...request, ...asked })
  const entries = await Promise.all(found.map(entry => shown(authorizer, request, entry)))
  return entries.map(entry => ({ ...entry, ...elsewhere }))
}
