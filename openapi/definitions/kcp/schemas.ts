import { crdAge } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import {
  atomicList,
  boolean,
  bytes,
  kindSchema,
  list,
  listMap,
  object,
  oneOfStrings,
  rules,
  string,
} from '../fields.ts'
import { printerColumn, resourceNames, selectableFields, subresources } from '../fragments.ts'
import { kcpKind, stored } from './fragments.ts'

const versionName = { minLength: 1, pattern: '^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$' }

const subresourceParts = subresources(description => ({ type: 'object', description }))

const version = object(
  'A version of the resource.',
  {
    additionalPrinterColumns: listMap(
      'Additional columns of tables. The age of objects is shown if empty.',
      ['name'],
      printerColumn(['jsonPath', 'name', 'type']),
    ),
    deprecated: boolean('Whether the version is deprecated. Requests to a deprecated version get a warning.'),
    deprecationWarning: string('Text of the deprecation warning. Defaults to a generated text.'),
    name: string('Name of the version, such as v1.', versionName),
    schema: {
      type: 'object',
      description: 'OpenAPI v3 schema of the objects.',
      'x-kubernetes-map-type': 'atomic',
      'x-kubernetes-preserve-unknown-fields': true,
    },
    selectableFields,
    served: boolean('Whether the version is served.', { default: true }),
    storage: boolean('Whether objects are stored in this version. Must be true for exactly one version.'),
    subresources: subresourceParts,
  },
  { required: ['name', 'schema', 'served', 'storage'] },
)

const conversion = object(
  'How objects are converted between versions.',
  {
    strategy: oneOfStrings('Conversion strategy. None changes apiVersion only, Webhook calls a webhook.', [
      'None',
      'Webhook',
    ]),
    webhook: object(
      'Webhook that converts objects. Required for the strategy Webhook.',
      {
        clientConfig: object('How to connect to the webhook.', {
          caBundle: bytes('PEM-encoded CA certificates that verify the certificate of the webhook.'),
          url: string('URL of the webhook.', { format: 'uri' }),
        }),
        conversionReviewVersions: atomicList(
          'Versions of ConversionReview that the webhook accepts, in order of preference.',
        ),
      },
      { required: ['conversionReviewVersions'] },
    ),
  },
  {
    required: ['strategy'],
    ...rules([
      "(self.strategy == 'None' && !has(self.webhook))  || (self.strategy == 'Webhook' && has(self.webhook))",
      'Webhook must be specified if strategy=Webhook',
    ]),
  },
)

export const apiResourceSchema: KindDefinition = kcpKind('apis.kcp.io', 'APIResourceSchema', [
  stored('v1alpha1', {
    schema: kindSchema(
      'APIResourceSchema describes a resource that APIExports can export. Its spec is immutable.',
      {
        spec: object(
          'Desired state of the resource.',
          {
            conversion,
            group: string('API group of the resource. "" is the core group.'),
            nameValidation: oneOfStrings(
              'Validation of the names of objects.',
              ['DNS1123Subdomain', 'PathSegmentName'],
              { default: 'DNS1123Subdomain' },
            ),
            names: resourceNames('Names of the resource and its kind.', ['kind', 'plural']),
            scope: oneOfStrings('Scope of the resource: Cluster or Namespaced.', ['Cluster', 'Namespaced']),
            versions: listMap('Versions of the resource.', ['name'], version, { minItems: 1 }),
          },
          {
            required: ['group', 'names', 'scope', 'versions'],
            ...rules([
              'size(self.versions) == 1 || (size(self.versions) > 1 && has(self.conversion))',
              'Conversion must be specified when multiple versions exist',
            ]),
          },
        ),
      },
    ),
    columns: [crdAge],
    status: false,
  }),
])

const conversionRule = object(
  'A rule that sets one field of the new version.',
  {
    destination: string('Path of the field in the new version.', { minLength: 1 }),
    field: string('Path of the field in the old version.', { minLength: 1 }),
    transformation: string('CEL expression that returns the value. The value is copied if unset.'),
  },
  { required: ['destination', 'field'] },
)

const versionConversion = object(
  'The conversion from one version to another.',
  {
    from: string('Version to convert from.', versionName),
    preserve: list('Paths of fields of the old version that are preserved in annotations.'),
    rules: listMap('Rules that set the fields of the new version.', ['destination'], conversionRule),
    to: string('Version to convert to.', versionName),
  },
  { required: ['from', 'rules', 'to'] },
)

export const apiConversion: KindDefinition = kcpKind('apis.kcp.io', 'APIConversion', [
  stored('v1alpha1', {
    schema: kindSchema(
      'APIConversion converts objects between the versions of the APIResourceSchema of the same name.',
      {
        spec: object(
          'Desired state.',
          {
            conversions: listMap('Conversions, one per pair of versions.', ['from', 'to'], versionConversion),
          },
          { required: ['conversions'] },
        ),
      },
      { required: ['metadata', 'spec'] },
    ),
    columns: [crdAge],
    status: false,
  }),
])
