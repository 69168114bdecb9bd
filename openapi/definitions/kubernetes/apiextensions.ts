import { createdAt } from '../columns.ts'
import { anything, atomicList, boolean, int64, kindSchema, object, oneOfStrings, string } from '../fields.ts'
import {
  conditions,
  printerColumn,
  resourceNames,
  selectableFields,
  subresources,
  webhookClientConfig,
} from '../fragments.ts'
import { builtin } from './kind.ts'

const namesRequired = ['plural', 'kind']

const conversion = object(
  'How objects are converted between versions.',
  {
    strategy: string('Conversion strategy. None changes apiVersion only, Webhook calls a webhook.', {
      default: 'None',
    }),
    webhook: object(
      'Webhook that converts objects. Required for the strategy Webhook.',
      {
        clientConfig: webhookClientConfig,
        conversionReviewVersions: atomicList(
          'Versions of ConversionReview that the webhook accepts, in order of preference.',
        ),
      },
      { required: ['conversionReviewVersions'] },
    ),
  },
  { required: ['strategy'], default: { strategy: 'None' } },
)

const version = object(
  'A version of the resource.',
  {
    additionalPrinterColumns: atomicList(
      'Additional columns of tables. The age of objects is shown if empty.',
      printerColumn(['name', 'type', 'jsonPath']),
    ),
    deprecated: boolean('Whether the version is deprecated. Requests to a deprecated version get a warning.'),
    deprecationWarning: string('Text of the deprecation warning. Defaults to a generated text.'),
    name: string('Name of the version, such as v1.'),
    schema: object('Schema of the objects.', {
      openAPIV3Schema: anything('Structural OpenAPI v3 schema of the objects.'),
    }),
    selectableFields,
    served: boolean('Whether the version is served.'),
    storage: boolean('Whether objects are stored in this version. Must be true for exactly one version.'),
    subresources: subresources(anything),
  },
  { required: ['name', 'served', 'storage'] },
)

const status = object('Observed state.', {
  acceptedNames: resourceNames(
    'Names that the server uses. They differ from spec.names while other definitions use a name.',
    namesRequired,
  ),
  conditions: conditions('Conditions of the definition, such as NamesAccepted and Established.', [
    'type',
    'status',
  ]),
  observedGeneration: int64('metadata.generation that was last observed.'),
  storedVersions: atomicList('Versions in which objects have ever been stored.'),
})

export const customResourceDefinitions = builtin({
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  status: true,
  schema: kindSchema(
    'CustomResourceDefinition adds a resource to the API. Its name must be <plural>.<group>.',
    {
      spec: object(
        'Desired state.',
        {
          conversion,
          group: string('API group of the resource.'),
          names: { ...resourceNames('Names of the resource and its kind.', namesRequired), default: {} },
          preserveUnknownFields: boolean('Deprecated. Must be false.'),
          scope: oneOfStrings('Scope of the resource: Cluster or Namespaced.', ['Cluster', 'Namespaced']),
          versions: atomicList('Versions of the resource.', version),
        },
        { required: ['group', 'names', 'scope', 'versions'] },
      ),
      status,
    },
    { required: ['spec'] },
  ),
  columns: [createdAt],
})
