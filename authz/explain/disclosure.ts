import type { Action, Authorizer, Decision } from '../../framework/contract/authorizer.ts'
import { type DecisionStep, stepsIn } from '../../framework/contract/decisionsteps.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import type { AuthorizerAttributes } from '../chain/attributes.ts'
import type { AuthorizationSources } from '../chain/memory.ts'
import type { Missing } from './diagnosis.ts'

/** Why somebody may or may not do something, as far as whoever asks may know. As sent. */
export interface Explanation {
  readonly allowed: boolean
  /** The asker may not know more than this: `steps` is empty, and `missing` is what he may ask for. */
  readonly limited?: true
  /** What each authorizer said, in order; a gate that delegated has the decision it led to. */
  readonly steps: readonly ExplainedStep[]
  /** Everything that would have to be given. */
  readonly missing: readonly ExplainedMissing[]
}

export interface ExplainedStep extends Omit<DecisionStep, 'decision'> {
  readonly decision: DecisionStep['decision'] | 'Withheld'
}

export interface ExplainedMissing {
  readonly authorizer: string
  /** A logical cluster's name, or the path by which the workspace refers to another one. */
  readonly workspace: string
  /** Another workspace than the one that was asked. */
  readonly elsewhere?: true
  readonly why: string
  readonly grant: readonly KubeObject[]
}

/** Who asks whom to explain what. */
export interface ExplainRequest {
  readonly asker: UserInfo
  /** Whose rights are explained. */
  readonly user: UserInfo
  readonly action: Action
  readonly signal: AbortSignal
}

/** The right to ask about others is the right to be told why: `create` on `subjectaccessreviews`, in that cluster. */
export async function mayAskIn(
  authorizer: Authorizer,
  { asker, signal }: Pick<ExplainRequest, 'asker' | 'signal'>,
  cluster: ClusterName | '*',
): Promise<boolean> {
  const resource = { ...subjectAccessReviews, namespace: '', name: '', subresource: '' }
  const { effect } = await authorizer.authorize(asker, { verb: 'create', cluster, resource }, signal)
  return effect === 'allow'
}

const subjectAccessReviews = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
}

/**
 * What anybody may know of himself: inside a workspace, that a rule is missing, and what it would be. Nothing that
 * depends on what exists, and nothing at all from outside: a workspace that is closed to somebody looks like none.
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
  return { authorizer, workspace, ...(from === undefined ? {} : { elsewhere: true }), why, grant }
}

/** What lies in another workspace goes by the name that the binding uses, unless the asker may ask there, too. */
export async function shown(
  authorizer: Authorizer,
  request: ExplainRequest,
  entry: Missing,
): Promise<ExplainedMissing> {
  const { export: from, cluster } = entry
  const known = from === undefined || (await mayAskIn(authorizer, request, cluster))
  return plain(entry, known ? cluster : from.path)
}

/** What each authorizer said, in order, without the policies of exports in workspaces where the asker may not ask. */
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
    if (from.cluster === undefined || !(await mayAskIn(authorizer, request, from.cluster)))
      return steps.map(step => (step.authorizer === '04-maxpermissionpolicy' ? withheld(step) : step))
  return steps
}

/** The policy of an export is the business of its workspace: only that it had a say is told here. */
const withheld = (step: DecisionStep): DecisionStep => ({
  ...step,
  reason: step.reason.startsWith('delegating')
    ? 'delegating due to the maximal permission policy of the API export, or its absence'
    : 'the maximal permission policy of the API export does not grant this',
})
