import type { Action } from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import type { FieldRequirement, LabelRequirement } from '../../framework/selectors/selectors.ts'
import { effectiveUsers } from '../rbac/effectiveusers.ts'

/** One question to the chain: who, as whom he counts where he asks, and what for. */
export interface AuthorizerAttributes {
  /** As he was authenticated. */
  readonly user: UserInfo
  readonly action: Action
  /** As whom he counts in the action's logical cluster. */
  readonly effective: readonly UserInfo[]
}

export const attributesFor = (user: UserInfo, action: Action): AuthorizerAttributes => ({
  user,
  action,
  effective: effectiveUsers(user, action.cluster),
})

export const inGroup = ({ effective }: AuthorizerAttributes, group: string): boolean =>
  effective.some(({ groups }) => groups.includes(group))

/** Asks past what guards a workspace from outside, unless it is about reviews themselves (chapter 30, section 2.8). */
export const isDeep = ({ action }: AuthorizerAttributes): boolean =>
  action.deep === true && action.resource?.group !== 'authorization.k8s.io'

/** No single logical cluster. */
export const isNowhere = ({ action: { cluster } }: AuthorizerAttributes): boolean =>
  cluster === '' || cluster === '*'

/** What an access review says about an action. */
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

/** Reviews know no comparisons of numbers. Without them an action is limited less, and what is asked for is more. */
function labelTerm({ key, operator, values }: LabelRequirement): readonly object[] {
  if (operator === 'gt' || operator === 'lt') return []
  return [{ key, operator: operators[operator], ...(values.length === 0 ? {} : { values }) }]
}
