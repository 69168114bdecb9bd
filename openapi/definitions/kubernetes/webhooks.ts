import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { age, computed, sizeOf } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { atomicList, atomicObject, int32, kindSchema, listMap, mergedBy, object, string } from '../fields.ts'
import { labelSelector, webhookClientConfig } from '../fragments.ts'
import { builtin } from './kind.ts'

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

const webhook = (extra: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps =>
  object(
    'One webhook.',
    {
      admissionReviewVersions: atomicList('Versions of AdmissionReview that it understands, best first.'),
      clientConfig: webhookClientConfig,
      failurePolicy,
      matchConditions: matchConditions('More conditions on requests.'),
      matchPolicy,
      name: string('The name of the webhook, with dots.'),
      ...selectors,
      rules: atomicList('Which requests it sees.', object('Some requests.', ruleFields)),
      sideEffects: string('What calling it changes elsewhere: None or NoneOnDryRun.'),
      timeoutSeconds: int32('How long to wait for it, in seconds, 1 to 30.', { default: 10 }),
      ...extra,
    },
    { required: ['name', 'clientConfig', 'sideEffects', 'admissionReviewVersions'] },
  )

const configuration = (kind: string, description: string, hook: JSONSchemaProps): KindDefinition =>
  builtin({
    group: 'admissionregistration.k8s.io',
    kind,
    categories: ['api-extensions'],
    schema: kindSchema(description, {
      webhooks: listMap('The webhooks.', ['name'], hook, mergedBy('name')),
    }),
    columns: [
      computed(['Webhooks', 'integer', 'How many webhooks there are.'], o => sizeOf(o.webhooks)),
      age,
    ],
  })

export const mutatingWebhookConfigurations = configuration(
  'MutatingWebhookConfiguration',
  'Webhooks that may change objects before they are stored.',
  webhook({ reinvocationPolicy }),
)
export const validatingWebhookConfigurations = configuration(
  'ValidatingWebhookConfiguration',
  'Webhooks that may refuse requests.',
  webhook({}),
)
