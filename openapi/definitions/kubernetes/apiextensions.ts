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
  'How objects get from one version to another.',
  {
    strategy: string('None changes apiVersion only; Webhook asks.', { default: 'None' }),
    webhook: object(
      'Whom to ask.',
      {
        clientConfig: webhookClientConfig,
        conversionReviewVersions: atomicList('Versions of ConversionReview that the webhook understands.'),
      },
      { required: ['conversionReviewVersions'] },
    ),
  },
  { required: ['strategy'], default: { strategy: 'None' } },
)

const version = object(
  'One version of the resource.',
  {
    additionalPrinterColumns: atomicList(
      'Columns of tables; the age if empty.',
      printerColumn(['name', 'type', 'jsonPath']),
    ),
    deprecated: boolean('Clients are warned about using this version.'),
    deprecationWarning: string('The text of that warning.'),
    name: string('The name of the version, such as v1.'),
    schema: object('What objects look like.', {
      openAPIV3Schema: anything('A structural OpenAPI v3 schema.'),
    }),
    selectableFields,
    served: boolean('Whether clients can use this version.'),
    storage: boolean('Whether objects are stored in this version; true for exactly one.'),
    subresources: subresources(anything),
  },
  { required: ['name', 'served', 'storage'] },
)

const status = object('What was observed.', {
  acceptedNames: resourceNames(
    'Names that the server uses. They differ from spec.names while other definitions use a name.',
    namesRequired,
  ),
  conditions: conditions('Conditions of the definition, such as NamesAccepted and Established.', [
    'type',
    'status',
  ]),
  observedGeneration: int64('The metadata.generation that was looked at.'),
  storedVersions: atomicList('The versions in which objects were ever stored.'),
})

export const customResourceDefinitions = builtin({
  group: 'apiextensions.k8s.io',
  kind: 'CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  status: true,
  schema: kindSchema(
    'Adds a resource to this API. Its name is `<plural>.<group>`.',
    {
      spec: object(
        'What is wanted.',
        {
          conversion,
          group: string('The API group of the resource.'),
          names: { ...resourceNames('Names of the resource and its kind.', namesRequired), default: {} },
          preserveUnknownFields: boolean('Must be false.'),
          scope: oneOfStrings('Whether objects live in namespaces.', ['Cluster', 'Namespaced']),
          versions: atomicList('The versions of the resource.', version),
        },
        { required: ['group', 'names', 'scope', 'versions'] },
      ),
      status,
    },
    { required: ['spec'] },
  ),
  columns: [createdAt],
})
