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
import type { DecisionDetails } from './decisiondetails.ts'
import { sentenceOf } from './diagnosis.ts'
import {
  type ExplainedMissing,
  type ExplainedStep,
  type ExplainRequest,
  type Explanation,
  limited,
  mayReviewIn,
  visibleMissing,
} from './visibility.ts'

/** A request to explain a request to a view, in the logical cluster whose authorization decides about the view. */
export interface ViewExplainRequest extends ExplainRequest {
  /** `/services/apiexport/<cluster>/<export>/clusters/<name or *>` */
  readonly url: string
  readonly record: Recorder
}

export interface ViewExplaining {
  readonly authorizer: Authorizer
  readonly details: DecisionDetails
  readonly views: () => readonly VirtualWorkspace[]
}

/**
 * The authorization decisions of a view, and who made them. A requester with permission for reviews in a logical
 * cluster sees the decisions there, and of other logical clusters only that they decide, too.
 */
export async function explainView(parts: ViewExplaining, request: ViewExplainRequest): Promise<Explanation> {
  const { workspace, ctx } = viewOf(parts.views(), request)
  const decision = await decisionOf(parts, workspace, ctx)
  const { cluster = ctx.cluster } = decision
  if (cluster !== request.action.cluster)
    throw badRequest(
      `the authorization of ${JSON.stringify(request.url)} is decided in another workspace: send the request there`,
    )
  const allowed = decision.effect === 'allow'
  const steps = (decision.trace ?? []).map(step => ({ ...step, cluster: step.cluster ?? cluster }))
  if (!(await mayReviewIn(parts.authorizer, request, cluster)))
    return limitedTo(parts, request, allowed, steps)
  const explained = (await Promise.all(steps.map(step => stepsAt(parts, request, step)))).flat()
  const missing = (await Promise.all(steps.map(step => missingAt(parts, request, step)))).flat()
  const isHidden = !allowed && explained.some(step => step.decision === 'Withheld')
  return { allowed, steps: explained, missing: isHidden ? [...missing, otherWorkspaces] : missing }
}

/** Added in every case with hidden steps, so that it reveals nothing about other workspaces. */
const otherWorkspaces: ExplainedMissing = {
  authorizer: 'others',
  workspace: '',
  otherWorkspace: true,
  why: 'Other workspaces also decide. Permission to create subjectaccessreviews there shows their decisions.',
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
  { user, action, signal, record, requester }: ViewExplainRequest,
  { params, cluster }: { readonly params: Params; readonly cluster: string },
): RequestContext {
  const { name } = workspace
  const about = { workspace: name, params, cluster, info: infoOf(action), user, requestor: requester }
  const parts = { ...about, hops: 0, record, lifetime: { signal } }
  const asked = createContext({ ...parts, actAs: user })
  return createContext({ ...parts, actAs: workspace.actAs?.(asked) ?? user })
}

function infoOf({ verb, resource, path = '' }: Action): RequestInfo {
  if (resource === undefined) return { isResource: false, verb, path }
  return { isResource: true, ...resource, verb: verb as Verb, path }
}

/** Runs the view's authorization. A decision without a trace becomes a trace of one step. */
async function decisionOf(
  { authorizer }: ViewExplaining,
  workspace: VirtualWorkspace,
  ctx: RequestContext,
): Promise<Decision> {
  const { cluster, user, signal, info } = ctx
  const ask = workspace.explain ?? workspace.authorize
  const answer = await (ask?.(ctx) ?? authorizer.authorize(user, actionOf(info, cluster), signal))
  // Only a view's guard can refuse system:masters.
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

/** The explanation for a requester without permission for reviews: what is missing in the deciding workspace. */
async function limitedTo(
  { details }: ViewExplaining,
  { action: { cluster }, signal }: ViewExplainRequest,
  allowed: boolean,
  steps: readonly Step[],
): Promise<Explanation> {
  const refused = steps.find(step => step.cluster === cluster && step.effect !== 'allow')
  const asked = refused && questionOf(refused)
  if (asked === undefined) return { allowed, limited: true, steps: [], missing: [] }
  const missing = await details.missing({ ...asked, signal })
  return limited(allowed, missing, attributesFor(asked.user, asked.action))
}

async function stepsAt(
  { authorizer, details }: ViewExplaining,
  request: ViewExplainRequest,
  step: Step,
): Promise<readonly ExplainedStep[]> {
  const { cluster: workspace, authorizer: by = '' } = step
  if (!(await mayReviewIn(authorizer, request, workspace)))
    return [
      {
        authorizer: by,
        decision: 'Withheld',
        reason: 'you may not create subjectaccessreviews in its workspace',
      },
    ]
  const own = printStep(step)
  const [answer] = step.trace ?? []
  if (answer?.asked === undefined) return [own]
  const inner = await details.steps({ ...request, ...answer.asked }, answer)
  return [own, ...inner.map(each => ({ ...each, workspace }))]
}

async function missingAt(
  { authorizer, details }: ViewExplaining,
  request: ViewExplainRequest,
  step: Step,
): Promise<readonly ExplainedMissing[]> {
  const { cluster: workspace, authorizer: by = '' } = step
  if (step.effect === 'allow' || !(await mayReviewIn(authorizer, request, workspace))) return []
  const otherWorkspace = workspace === request.action.cluster ? {} : { otherWorkspace: true as const }
  const asked = questionOf(step)
  if (asked === undefined)
    return [{ authorizer: by, workspace, ...otherWorkspace, why: sentenceOf(step), grant: [] }]
  const found = await details.missing({ ...request, ...asked })
  const entries = await Promise.all(found.map(entry => visibleMissing(authorizer, request, entry)))
  return entries.map(entry => ({ ...entry, ...otherWorkspace }))
}
