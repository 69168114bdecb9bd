import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { atomicList, atomicObject, listMap, mergedBy, object, string } from '../fields.ts'
import { labelSelector } from '../fragments.ts'

// What webhooks and admission policies have in common.

export const failurePolicy = string('What a failure means: Fail refuses the request, Ignore goes on.', {
  default: 'Fail',
})
export const matchPolicy = string(
  'Whether rules match the same resource in other versions: Equivalent or Exact.',
  {
    default: 'Equivalent',
  },
)
export const reinvocationPolicy = string(
  'Whether to run again after others changed the object: Never or IfNeeded.',
  {
    default: 'Never',
  },
)

export const selectors = {
  namespaceSelector: labelSelector('The namespaces it applies to.', { default: {} }),
  objectSelector: labelSelector('The objects it applies to.', { default: {} }),
} satisfies Record<string, JSONSchemaProps>

/** `RuleWithOperations`. */
export const ruleFields = {
  apiGroups: atomicList('Groups; "*" is all.'),
  apiVersions: atomicList('Versions; "*" is all.'),
  operations: atomicList('CREATE, UPDATE, DELETE, CONNECT or *.'),
  resources: atomicList('Resources, or subresources as resource/subresource; "*" is all resources.'),
  scope: string('Cluster, Namespaced or *.', { default: '*' }),
} satisfies Record<string, JSONSchemaProps>

export const matchConditions = (description: string): JSONSchemaProps =>
  listMap(
    description,
    ['name'],
    object(
      'One condition.',
      {
        expression: string('A CEL expression that must be true.'),
        name: string('The name of the condition.'),
      },
      { required: ['name', 'expression'] },
    ),
    mergedBy('name'),
  )

const namedRule = atomicObject('Some requests.', {
  ...ruleFields,
  resourceNames: atomicList('Names of objects; empty is all names.'),
})

export const matchResources = (description: string): JSONSchemaProps =>
  atomicObject(description, {
    excludeResourceRules: atomicList('Requests that are left out.', namedRule),
    matchPolicy,
    ...selectors,
    resourceRules: atomicList('Requests that are covered.', namedRule),
  })
