import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { age, computed, sizeOf } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { atomicList, atomicObject, int32, kindSchema, listMap, mergedBy, object, string } from '../fields.ts'
import { labelSelector, webhookClientConfig } from '../fragments.ts'
import { builtin } from './kind.ts'

// Schemas that webhooks and admission policies share.

export const failurePolicy = string(
  'How errors are handled. Fail rejects the request, Ignore ignores the error. Defaults to Fail.',
  {
    default: 'Fail',
  },
)
export const matchPolicy = string(
  'How rules match requests. Exact matches only the listed groups and versions, Equivalent also matches other versions of the same resource. Defaults to Equivalent.',
  {
    default: 'Equivalent',
  },
)
export const reinvocationPolicy = string(
  'Whether to call again if a later plugin modifies the object: Never or IfNeeded. Defaults to Never.',
  {
    default: 'Never',
  },
)

export const selectors = {
  namespaceSelector: labelSelector(
    'Label selector for the namespace of the object. Matches all namespaces if empty.',
    { default: {} },
  ),
  objectSelector: labelSelector('Label selector for the object. Matches all objects if empty.', {
    default: {},
  }),
} satisfies Record<string, JSONSchemaProps>

/** `RuleWithOperations`. */
export const ruleFields = {
  apiGroups: atomicList('API groups of the resources. "*" matches all groups.'),
  apiVersions: atomicList('API versions of the resources. "*" matches all versions.'),
  operations: atomicList('Operations: CREATE, UPDATE, DELETE, CONNECT, or "*" for all.'),
  resources: atomicList(
    'Resources, or subresources as <resource>/<subresource>. "*" matches all resources, but no subresources.',
  ),
  scope: string('Scope of the resources: Cluster, Namespaced, or "*" for both. Defaults to "*".', {
    default: '*',
  }),
} satisfies Record<string, JSONSchemaProps>

export const matchConditions = (description: string): JSONSchemaProps =>
  listMap(
    description,
    ['name'],
    object(
      'A match condition.',
      {
        expression: string('CEL expression that must return true.'),
        name: string('Name of the match condition.'),
      },
      { required: ['name', 'expression'] },
    ),
    mergedBy('name'),
  )

const namedRule = atomicObject('A rule that matches operations on resources.', {
  ...ruleFields,
  resourceNames: atomicList('Names of the objects. Matches all names if empty.'),
})

export const matchResources = (description: string): JSONSchemaProps =>
  atomicObject(description, {
    excludeResourceRules: atomicList(
      'Rules for operations that are excluded. They take precedence over resourceRules.',
      namedRule,
    ),
    matchPolicy,
    ...selectors,
    resourceRules: atomicList('Rules for operations that match.', namedRule),
  })

const webhook = (extra: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps =>
  object(
    'An admission webhook.',
    {
      admissionReviewVersions: atomicList(
        'Versions of AdmissionReview that the webhook accepts, in order of preference.',
      ),
      clientConfig: webhookClientConfig,
      failurePolicy,
      matchConditions: matchConditions(
        'Conditions that must all be true for a request to be sent to the webhook.',
      ),
      matchPolicy,
      name: string('Name of the webhook. Must be fully qualified, such as images.example.com.'),
      ...selectors,
      rules: atomicList(
        'Operations on resources for which the webhook is called.',
        object('A rule that matches operations on resources.', ruleFields),
      ),
      sideEffects: string('Side effects of the webhook: None or NoneOnDryRun.'),
      timeoutSeconds: int32('Timeout of a call, in seconds, from 1 to 30. Defaults to 10.', { default: 10 }),
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
      webhooks: listMap(
        'Webhooks, with the operations that they apply to.',
        ['name'],
        hook,
        mergedBy('name'),
      ),
    }),
    columns: [computed(['Webhooks', 'integer', 'Number of webhooks.'], o => sizeOf(o.webhooks)), age],
  })

export const mutatingWebhookConfigurations = configuration(
  'MutatingWebhookConfiguration',
  'MutatingWebhookConfiguration registers admission webhooks that can modify objects.',
  webhook({ reinvocationPolicy }),
)
export const validatingWebhookConfigurations = configuration(
  'ValidatingWebhookConfiguration',
  'ValidatingWebhookConfiguration registers admission webhooks that can reject requests.',
  webhook({}),
)
