import { createdAt } from '../columns.ts'
import {
  anything,
  atomicList,
  boolean,
  bytes,
  int32,
  int64,
  kindSchema,
  listMap,
  object,
  oneOfStrings,
  string,
  time,
} from '../fields.ts'
import { builtin } from './kind.ts'

const names = (description: string) =>
  object(
    description,
    {
      categories: atomicList('Groups of resources, such as `all`, that clients list together.'),
      kind: string('The kind, in CamelCase.'),
      listKind: string('The kind of lists; `<kind>List` if unset.'),
      plural: string('The name of the resource in URLs.'),
      shortNames: atomicList('Short names for command lines.'),
      singular: string('The kind in lower case.'),
    },
    { required: ['plural', 'kind'] },
  )

const conversion = object(
  'How objects get from one version to another.',
  {
    strategy: string('None changes apiVersion only; Webhook asks.', { default: 'None' }),
    webhook: object(
      'Whom to ask.',
      {
        clientConfig: object('How to reach the webhook: a URL or a Service.', {
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
        }),
        conversionReviewVersions: atomicList('Versions of ConversionReview that the webhook understands.'),
      },
      { required: ['conversionReviewVersions'] },
    ),
  },
  { required: ['strategy'], default: { strategy: 'None' } },
)

const printerColumn = object(
  'One column of a table of objects.',
  {
    description: string('What the column shows.'),
    format: string('How the value is written, as an OpenAPI format.'),
    jsonPath: string('Where the value is found in the object.'),
    name: string('The heading.'),
    priority: int32('0 is always shown, more only in wide tables.'),
    type: string('The OpenAPI type of the value, or date.'),
  },
  { required: ['name', 'type', 'jsonPath'] },
)

const subresources = object('The subresources of the version.', {
  scale: object(
    'Serves `/scale`.',
    {
      labelSelectorPath: string('Where the label selector is found.'),
      specReplicasPath: string('Where the wanted number is found, below `.spec`.'),
      statusReplicasPath: string('Where the actual number is found, below `.status`.'),
    },
    { required: ['specReplicasPath', 'statusReplicasPath'] },
  ),
  status: anything('Serves `/status`; status and the rest are then written apart.'),
})

const version = object(
  'One version of the resource.',
  {
    additionalPrinterColumns: atomicList('Columns of tables; the age if empty.', printerColumn),
    deprecated: boolean('Clients are warned about using this version.'),
    deprecationWarning: string('The text of that warning.'),
    name: string('The name of the version, such as v1.'),
    schema: object('What objects look like.', {
      openAPIV3Schema: anything('A structural OpenAPI v3 schema.'),
    }),
    selectableFields: atomicList(
      'Fields that field selectors may name.',
      object('One field.', { jsonPath: string('Where it is found.') }, { required: ['jsonPath'] }),
    ),
    served: boolean('Whether clients can use this version.'),
    storage: boolean('Whether objects are stored in this version; true for exactly one.'),
    subresources,
  },
  { required: ['name', 'served', 'storage'] },
)

const status = object('What was observed.', {
  acceptedNames: names('The names that are in use.'),
  conditions: listMap(
    'Whether the names are accepted and the resource is served.',
    ['type'],
    object(
      'One aspect of the observed state.',
      {
        lastTransitionTime: time('When status last changed.'),
        message: string('Details, for people.'),
        observedGeneration: int64('The metadata.generation that was looked at.'),
        reason: string('Why, as one word in CamelCase.'),
        status: string('True, False or Unknown.'),
        type: string('Which aspect.'),
      },
      { required: ['type', 'status'] },
    ),
  ),
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
          names: { ...names('How the resource and its kind are called.'), default: {} },
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
