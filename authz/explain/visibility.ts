import type { Action, Authorizer, Decision } from '../../framework/contract/authorizer.ts'
import { type DecisionStep, stepsIn } from '../../framework/contract/decisionsteps.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import type { AuthorizerAttributes } from '../chain/attributes.ts'
import type { AuthorizationSources } from '../chain/memory.ts'
import type { Missing } from './diagnosis.ts'

/** The response to an explain request, limited to what the requester may see. */
export interface Explanation {
  readonly allowed: boolean
  /**
   * The requester sees a limited explanation: `steps` is empty, and `missing` has only the missing rules of RBAC in
   * this workspace.
   */
  readonly limited?: true
  /** The decision of each authorizer, in order; a gate that delegated has the decision of the chain. */
  readonly steps: readonly ExplainedStep[]
  /** Everything that is missing. */
  readonly missing: readonly ExplainedMissing[]
}

export interface ExplainedStep extends Omit<DecisionStep, 'decision'> {
  readonly decision: DecisionStep['decision'] | 'Withheld'
}

export interface ExplainedMissing {
  readonly authorizer: string
  /** The name of a logical cluster, or the path with which a binding refers to it. */
  readonly workspace: string
  /** The workspace is not that of the request. */
  readonly otherWorkspace?: true
  readonly why: string
  readonly grant: readonly KubeObject[]
}

/** A request to explain a decision. */
export interface ExplainRequest {
  readonly requester: UserInfo
  /** The user whose permissions are explained. */
  readonly user: UserInfo
  readonly action: Action
  readonly signal: AbortSignal
}

/**
 * Whether the requester may `create` `subjectaccessreviews` in the cluster: this permission also allows full
 * explanations.
 */
export async function mayReviewIn(
  authorizer: Authorizer,
  { requester, signal }: Pick<ExplainRequest, 'requester' | 'signal'>,
  cluster: ClusterName | '*',
): Promise<boolean> {
  const resource = { ...subjectAccessReviews, namespace: '', name: '', subresource: '' }
  const { effect } = await authorizer.authorize(requester, { verb: 'create', cluster, resource }, signal)
  return effect === 'allow'
}

const subjectAccessReviews = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
}

/**
 * The explanation for requesters without permission for reviews, who ask about themselves: with access to the
 * workspace, the missing rule; otherwise nothing, as for a workspace that does not exist. It does not depend on which
 * objects exist.
 */
export function limited(
  allowed: boolean,
  missing: readonly Missing[],
  { action }: AuthorizerAttributes,
): Explanation {
  const inside = missing.every(
    ({ authorizer }) => authorizer.startsWith('05-') || authorizer.startsWith('04-'),
  )
  const own = missing.filter(
    ({ cluster, authorizer }) => cluster === action.cluster && authorizer.startsWith('05-'),
  )
  return { allowed, limited: true, steps: [], missing: inside ? own.map(entry => plain(entry)) : [] }
}

const plain = (missing: Missing, workspace: string = missing.cluster): ExplainedMissing => {
  const { authorizer, why, grant, export: from } = missing
  return { authorizer, workspace, ...(from === undefined ? {} : { otherWorkspace: true }), why, grant }
}

/**
 * Replaces the name of another logical cluster by the path that the binding uses, unless the requester has permission
 * there.
 */
export async function visibleMissing(
  authorizer: Authorizer,
  request: ExplainRequest,
  entry: Missing,
): Promise<ExplainedMissing> {
  const { export: from, cluster } = entry
  const known = from === undefined || (await mayReviewIn(authorizer, request, cluster))
  return plain(entry, known ? cluster : from.path)
}

/**
 * The decision of each authorizer, without the policies of exports in workspaces where the requester has no
 * permission.
 */
export async function stepsOf(
  authorizer: Authorizer,
  { exports }: Pick<AuthorizationSources, 'exports'>,
  request: ExplainRequest,
  decision: Decision,
): Promise<readonly ExplainedStep[]> {
  const steps = stepsIn(decision)
  const { cluster, resource } = request.action
  if (resource === undefined) return steps
  for (const from of exports.of(cluster, resource.group, resource.resource))
    if (from.cluster === undefined || !(await mayReviewIn(authorizer, request, from.cluster)))
      return steps.map(step => (step.authorizer === '04-maxpermissionpolicy' ? withheld(step) : step))
  return steps
}

/** Removes the details of an export's policy, which belong to another workspace. */
const withheld = (step: DecisionStep): DecisionStep => ({
  ...step,
  reason: step.reason.startsWith('delegating')
    ? 'delegating due to the maximal permission policy of the API export, or its absence'
    : 'the maximal permission policy of the API export does not grant this',
})
