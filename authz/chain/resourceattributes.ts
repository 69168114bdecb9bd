import type { Action } from '../../framework/contract/authorizer.ts'
import type { FieldRequirement, LabelRequirement } from '../../framework/selectors/selectors.ts'

/** What an access review says about an action. */
export function attributesOf(action: Action): object {
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
