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
  'One version of the resource.',
  {
    additionalPrinterColumns: listMap(
      'Columns of tables; the age if empty.',
      ['name'],
      printerColumn(['jsonPath', 'name', 'type']),
    ),
    deprecated: boolean('Clients are warned about using this version.'),
    deprecationWarning: string('The text of that warning.'),
    name: string('The name of the version, such as v1.', versionName),
    schema: {
      type: 'object',
      description: 'The OpenAPI v3 schema of objects.',
      'x-kubernetes-map-type': 'atomic',
      'x-kubernetes-preserve-unknown-fields': true,
    },
    selectableFields,
    served: boolean('Whether clients can use this version.', { default: true }),
    storage: boolean('Whether objects are stored in this version; true for exactly one.'),
    subresources: subresourceParts,
  },
  { required: ['name', 'schema', 'served', 'storage'] },
)

const conversion = object(
  'How objects get from one version to another.',
  {
    strategy: oneOfStrings('None changes apiVersion only; Webhook asks.', ['None', 'Webhook']),
    webhook: object(
      'Whom to ask.',
      {
        clientConfig: object('How to reach the webhook.', {
          caBundle: bytes('The certificates to trust, as PEM.'),
          url: string('The URL of the webhook.', { format: 'uri' }),
        }),
        conversionReviewVersions: atomicList('Versions of ConversionReview that the webhook understands.'),
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
    schema: kindSchema('The names and versions of one resource that exports can offer. Never changes.', {
      spec: object(
        'The resource.',
        {
          conversion,
          group: string('The API group of the resource; "" is the core group.'),
          nameValidation: oneOfStrings(
            'Which names objects may have.',
            ['DNS1123Subdomain', 'PathSegmentName'],
            { default: 'DNS1123Subdomain' },
          ),
          names: resourceNames('Names of the resource and its kind.', ['kind', 'plural']),
          scope: oneOfStrings('Whether objects live in namespaces.', ['Cluster', 'Namespaced']),
          versions: listMap('The versions of the resource.', ['name'], version, { minItems: 1 }),
        },
        {
          required: ['group', 'names', 'scope', 'versions'],
          ...rules([
            'size(self.versions) == 1 || (size(self.versions) > 1 && has(self.conversion))',
            'Conversion must be specified when multiple versions exist',
          ]),
        },
      ),
    }),
    columns: [crdAge],
    status: false,
  }),
])

const conversionRule = object(
  'How one field gets its value.',
  {
    destination: string('The field in the new version.', { minLength: 1 }),
    field: string('The field in the old version.', { minLength: 1 }),
    transformation: string('A CEL expression of the value; copied if unset.'),
  },
  { required: ['destination', 'field'] },
)

const versionConversion = object(
  'The way from one version to another.',
  {
    from: string('The old version.', versionName),
    preserve: list('Fields of the old version that are kept in annotations.'),
    rules: listMap('How fields of the new version are made.', ['destination'], conversionRule),
    to: string('The new version.', versionName),
  },
  { required: ['from', 'rules', 'to'] },
)

export const apiConversion: KindDefinition = kcpKind('apis.kcp.io', 'APIConversion', [
  stored('v1alpha1', {
    schema: kindSchema(
      'Rules for converting objects between versions of the APIResourceSchema of the same name.',
      {
        spec: object(
          'The rules.',
          { conversions: listMap('Rules per pair of versions.', ['from', 'to'], versionConversion) },
          { required: ['conversions'] },
        ),
      },
      { required: ['metadata', 'spec'] },
    ),
    columns: [crdAge],
    status: false,
  }),
])
