import type { Action } from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import type { FieldRequirement, LabelRequirement } from '../../framework/selectors/selectors.ts'
import { effectiveUsers } from '../rbac/effectiveusers.ts'

/**
 * The input of the chain: `authorizer.Attributes` of `k8s.io/apiserver`, with the effective users of the logical
 * cluster.
 */
export interface AuthorizerAttributes {
  /** The user as authenticated. */
  readonly user: UserInfo
  readonly action: Action
  /** The identities of the user in the action's logical cluster. */
  readonly effective: readonly UserInfo[]
}

export const attributesFor = (user: UserInfo, action: Action): AuthorizerAttributes => ({
  user,
  action,
  effective: effectiveUsers(user, action.cluster),
})

export const inGroup = ({ effective }: AuthorizerAttributes, group: string): boolean =>
  effective.some(({ groups }) => groups.includes(group))

/**
 * A deep SubjectAccessReview skips the gates of the workspace, except for actions on reviews
 * (`pkg/authorization/deep_sar.go` of kcp).
 */
export const isDeep = ({ action }: AuthorizerAttributes): boolean =>
  action.deep === true && action.resource?.group !== 'authorization.k8s.io'

/** The action is not about a single logical cluster. */
export const hasNoCluster = ({ action: { cluster } }: AuthorizerAttributes): boolean =>
  cluster === '' || cluster === '*'

/** The `resourceAttributes` or `nonResourceAttributes` of an action in an access review. */
export function reviewAttributes(action: Action): object {
  const { verb, resource, path = '', fieldSelector, labelSelector } = action
  if (resource === undefined) return { nonResourceAttributes: { path, verb } }
  const { namespace, group, version, resource: plural, subresource, name } = resource
  const given = { namespace, verb, group, version: version || '*', resource: plural, subresource, name }
  return {
    resourceAttributes: {
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
      ...limit('fieldSelector', fieldSelector?.requirements.map(fieldTerm)),
      ...limit('labelSelector', labelSelector?.requirements.flatMap(labelTerm)),
    },
  }
}

const limit = (selector: string, requirements: readonly object[] = []): object =>
  requirements.length === 0 ? {} : { [selector]: { requirements } }

const fieldTerm = ({ field, operator, value }: FieldRequirement): object => ({
  key: field,
  operator: operator === '=' ? 'In' : 'NotIn',
  values: [value],
})

const operators = { in: 'In', notin: 'NotIn', exists: 'Exists', '!': 'DoesNotExist' } as const

/**
 * Access reviews have no numeric operators. Without these requirements the review asks for more objects, which is
 * safe.
 */
function labelTerm({ key, operator, values }: LabelRequirement): readonly object[] {
  if (operator === 'gt' || operator === 'lt') return []
  return [{ key, operator: operators[operator], ...(values.length === 0 ? {} : { values }) }]
}
