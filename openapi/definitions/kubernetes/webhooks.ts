import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { age, computed, sizeOf } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import { atomicList, bytes, int32, kindSchema, listMap, mergedBy, object, string } from '../fields.ts'
import {
  failurePolicy,
  matchConditions,
  matchPolicy,
  reinvocationPolicy,
  ruleFields,
  selectors,
} from './admission.ts'
import { builtin } from './kind.ts'

const clientConfig = object('How to reach the webhook: a URL or a Service.', {
  caBundle: bytes('The certificates to trust, as PEM.'),
  service: object(
    'The Service of the webhook.',
    {
      name: string('Name of the Service.'),
      namespace: string('Namespace of the Service.'),
      path: string('URL path.'),
      port: int32('Port; 443 if unset.', { default: 443 }),
    },
    { required: ['namespace', 'name'] },
  ),
  url: string('The URL of the webhook.'),
})

const webhook = (extra: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps =>
  object(
    'One webhook.',
    {
      admissionReviewVersions: atomicList('Versions of AdmissionReview that it understands, best first.'),
      clientConfig,
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
