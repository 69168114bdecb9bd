import type { Decision } from '../../framework/contract/authorizer.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import type { AuthorizerAttributes } from '../chain/attributes.ts'
import { gatesOf, stepsOf } from '../chain/authorizer.ts'
import type { Gate } from '../chain/chain.ts'
import { bindingUser, boundExports, policyVerdict } from '../chain/maximalpolicy.ts'
import type { AuthorizationSources } from '../chain/memory.ts'
import { accessBinding, roleAndBinding, subjectOf, userSubject } from './suggestion.ts'

/** One thing that keeps somebody from doing what he asks. */
export interface Missing {
  /** Whose: '02-content'. */
  readonly authorizer: string
  /** The logical cluster in which it is missing. */
  readonly cluster: ClusterName
  /** One sentence. */
  readonly why: string
  /** The smallest objects that would give it, to be made in that cluster; empty where RBAC cannot. */
  readonly grant: readonly KubeObject[]
  /** Of another workspace than the one that was asked: the export's, as the binding refers to it. */
  readonly export?: { readonly path: string; readonly name: string }
}

/** Everything that is missing, not only what was noticed first: with all of it given, the chain allows. */
export function diagnose(sources: AuthorizationSources, asking: AuthorizerAttributes): readonly Missing[] {
  const missing = gatesOf(sources).flatMap(gate => missingAt(sources, gate, asking))
  return [...missing, ...missingRule(sources, asking)]
}

function missingAt(
  sources: AuthorizationSources,
  gate: Gate,
  asking: AuthorizerAttributes,
): readonly Missing[] {
  const verdict = gate.check(asking)
  if ('delegate' in verdict || verdict.effect === 'allow') return []
  if (gate.name === '04-maxpermissionpolicy') return missingPolicies(sources, gate.name, asking)
  if (verdict.reason.startsWith('no verb=access')) return [noAccess(asking)]
  return [{ authorizer: gate.name, cluster: asking.action.cluster, why: sentenceOf(verdict), grant: [] }]
}

/** That the user may not enter the workspace. */
export function noAccess(asking: AuthorizerAttributes): Missing {
  const subject = subjectOf(asking)
  return {
    authorizer: '02-content',
    cluster: asking.action.cluster,
    why: 'The user has no access to the workspace: the verb "access" on the path "/".',
    grant: subject === undefined ? [] : [accessBinding(subject)],
  }
}

const sentences: Readonly<Record<string, string>> = {
  'LogicalCluster not found': 'There is no such logical cluster.',
  'logical cluster not found': 'There is no such logical cluster.',
  'empty or system workspace': 'Only system:masters may reach system clusters and all clusters at once.',
  'empty cluster name': 'Only system:masters may reach all clusters at once.',
}

export const sentenceOf = ({ reason }: Decision): string =>
  sentences[reason] ?? `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`

function missingPolicies(
  { rbac, exports }: AuthorizationSources,
  authorizer: string,
  asking: AuthorizerAttributes,
): readonly Missing[] {
  return boundExports(exports, asking).flatMap((from): readonly Missing[] => {
    const { path, name, cluster } = from
    if (cluster === undefined || policyVerdict(rbac, from, asking).allowed) return []
    const why = `The maximal permission policy of the APIExport "${name}" does not grant this.`
    const { namespace: _any, ...resource } = asking.action.resource ?? noResource
    const action = { ...asking.action, cluster, resource: { ...resource, namespace: '' } }
    const grant = roleAndBinding(action, userSubject(bindingUser(asking.user)))
    return [{ authorizer, cluster, why, grant, export: { path, name } }]
  })
}

const noResource = { group: '', version: '', resource: '', subresource: '', name: '', namespace: '' }

const missingRule = (sources: AuthorizationSources, asking: AuthorizerAttributes): readonly Missing[] =>
  stepsOf(sources).some(step => step(asking).effect === 'allow') ? [] : [noRule(asking)]

/** That nothing in the workspace allows the action. */
export function noRule(asking: AuthorizerAttributes): Missing {
  const { action } = asking
  const subject = subjectOf(asking)
  const grant = subject === undefined ? [] : roleAndBinding(action, subject)
  const why =
    subject === undefined
      ? 'The identity is out of scope in this workspace: it counts as anybody.'
      : 'No role that is bound to the user, or to a group of the user, allows this.'
  return { authorizer: '05-local', cluster: action.cluster, why, grant }
}
