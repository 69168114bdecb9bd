import type { Decision } from '../../framework/contract/authorizer.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'
import { anonymous } from '../../framework/request/user.ts'
import type { AuthorizerAttributes } from '../chain/attributes.ts'
import { gatesOf, stepsOf } from '../chain/authorizer.ts'
import type { Gate } from '../chain/chain.ts'
import { bindingUser, boundExports, policyUser, policyVerdict } from '../chain/maximalpolicy.ts'
import type { AuthorizationSources } from '../chain/memory.ts'
import { accessBinding, roleAndBinding, subjectOf, userSubject } from './suggestion.ts'

/** One permission or condition that is missing for an action. */
export interface Missing {
  /** The authorizer that refuses: '02-content'. */
  readonly authorizer: string
  /** The logical cluster in which it is missing. */
  readonly cluster: ClusterName
  /** One sentence. */
  readonly why: string
  /** The smallest objects that grant it, to be created in that cluster; empty where RBAC cannot grant it. */
  readonly grant: readonly KubeObject[]
  /** The export, when its policy refuses: `path` as in the binding. */
  readonly export?: { readonly path: string; readonly name: string }
}

/** Everything that is missing, not only the first reason: with all of it granted, the chain allows the action. */
export function diagnose(
  sources: AuthorizationSources,
  attributes: AuthorizerAttributes,
): readonly Missing[] {
  const missing = gatesOf(sources).flatMap(gate => missingAt(sources, gate, attributes))
  return [...missing, ...missingRule(sources, attributes)]
}

function missingAt(
  sources: AuthorizationSources,
  gate: Gate,
  attributes: AuthorizerAttributes,
): readonly Missing[] {
  const verdict = gate.check(attributes)
  if ('delegate' in verdict || verdict.effect === 'allow') return []
  if (gate.name === '04-maxpermissionpolicy') return missingPolicies(sources, gate.name, attributes)
  if (verdict.reason.startsWith('no verb=access')) return [noAccess(attributes)]
  return [{ authorizer: gate.name, cluster: attributes.action.cluster, why: sentenceOf(verdict), grant: [] }]
}

/** Reports missing access to the workspace. */
export function noAccess(attributes: AuthorizerAttributes): Missing {
  const subject = subjectOf(attributes)
  return {
    authorizer: '02-content',
    cluster: attributes.action.cluster,
    why: 'The user has no access to the workspace: the verb "access" on the path "/".',
    grant: subject === undefined ? [] : [accessBinding(subject)],
  }
}

const sentences: Readonly<Record<string, string>> = {
  'LogicalCluster not found': 'There is no such logical cluster.',
  'logical cluster not found': 'There is no such logical cluster.',
  'empty or system workspace':
    'Only system:masters has access to system clusters and to all clusters at once.',
  'empty cluster name': 'Only system:masters has access to all clusters at once.',
}

export const sentenceOf = ({ reason }: Decision): string =>
  sentences[reason] ?? `${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`

function missingPolicies(
  { rbac, exports }: AuthorizationSources,
  authorizer: string,
  attributes: AuthorizerAttributes,
): readonly Missing[] {
  return boundExports(exports, attributes).flatMap((from): readonly Missing[] => {
    const { path, name, cluster } = from
    if (cluster === undefined || policyVerdict(rbac, from, attributes).allowed) return []
    const why = `The maximal permission policy of the APIExport "${name}" does not grant this.`
    const { namespace: _any, ...resource } = attributes.action.resource ?? noResource
    const action = { ...attributes.action, cluster, resource: { ...resource, namespace: '' } }
    const user = policyUser(attributes.user, cluster)
    // One for users of other workspaces would be for all of them.
    const grant = user.name === bindingUser(anonymous).name ? [] : roleAndBinding(action, userSubject(user))
    return [{ authorizer, cluster, why, grant, export: { path, name } }]
  })
}

const noResource = { group: '', version: '', resource: '', subresource: '', name: '', namespace: '' }

const missingRule = (sources: AuthorizationSources, attributes: AuthorizerAttributes): readonly Missing[] =>
  stepsOf(sources).some(step => step(attributes).effect === 'allow') ? [] : [noRule(attributes)]

/** Reports that no rule in the workspace allows the action. */
export function noRule(attributes: AuthorizerAttributes): Missing {
  const { action } = attributes
  const subject = subjectOf(attributes)
  const grant = subject === undefined ? [] : roleAndBinding(action, subject)
  const why =
    subject === undefined
      ? 'The identity is out of scope in this workspace: it counts as system:anonymous.'
      : 'No role that is bound to the user, or to one of its groups, allows this.'
  return { authorizer: '05-local', cluster: action.cluster, why, grant }
}
