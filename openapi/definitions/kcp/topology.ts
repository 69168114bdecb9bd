import { crdAge, path } from '../columns.ts'
import type { KindDefinition } from '../definition.ts'
import {
  atomicList,
  atomicObject,
  kindSchema,
  list,
  map,
  object,
  oneOfStrings,
  rules,
  string,
} from '../fields.ts'
import { kcpConditions, labelSelector } from '../fragments.ts'
import { kcpKind, stored } from './fragments.ts'

const labelValue = '^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'
const labelPrefix = '^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$'

const isLabelKey = (key: string): string =>
  [
    `${key}.contains("/") ? ${key}.split("/", 2)[0].matches("${labelPrefix}")`,
    `${key}.split("/", 2)[1].matches("${labelValue}") : ${key}.matches("${labelValue}")`,
  ].join(' && ')
const labelKeyMessage = [
  `Label key prefixes are optional and limited to 253 characters. They should match "${labelPrefix}".`,
  `Names are limited to 63 characters and should match "${labelValue}". "/" is used as separator.`,
].join(' ')
const operatorRule = [
  'self.operator in ["In", "NotIn"] ? size(self.values) > 0 : ',
  '(self.operator in ["Exists", "DoesNotExist"] ? !has(self.values) : true)',
].join('')
const operatorMessage = [
  'There should be at least one value for In and NotIn operators.',
  'There should not be any value for Exists and DoesNotExist operators.',
].join(' ')

const requirement = object(
  'A requirement on the values of one label.',
  {
    key: string('Key of the label that the requirement applies to.', {
      maxLength: 317,
      ...rules([isLabelKey('self'), labelKeyMessage]),
    }),
    operator: oneOfStrings('Relation of the key to the values.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
    values: atomicList('Values for the operators In and NotIn.', {
      type: 'string',
      maxLength: 63,
      pattern: labelValue,
    }),
  },
  { required: ['key', 'operator'], ...rules([operatorRule, operatorMessage]) },
)

const shardSelector = atomicObject('Label selector for the shards to divide. Selects all shards if unset.', {
  matchExpressions: atomicList(
    'List of label selector requirements. The requirements are ANDed.',
    requirement,
    {
      maxItems: 10,
    },
  ),
  matchLabels: map(
    'Map of labels to required values. An entry is the same as a requirement with the operator In and one value.',
    { type: 'string', maxLength: 380 },
    {
      maxProperties: 10,
      ...rules(
        [`self.all(k, ${isLabelKey('k')})`, labelKeyMessage],
        [
          `self.all(k, self[k].matches("${labelValue}"))`,
          `Label values are limited to 63 characters and should match "${labelValue}".`,
        ],
      ),
    },
  ),
})

export const partition: KindDefinition = kcpKind('topology.kcp.io', 'Partition', [
  stored('v1alpha1', {
    schema: kindSchema(
      'Partition groups shards by their labels.',
      {
        spec: object('Desired state.', {
          selector: labelSelector('Label selector for the shards of the Partition.'),
        }),
      },
      { required: ['spec'] },
    ),
    columns: [path('Owner', '.metadata.ownerReferences[*].name'), crdAge],
    status: false,
  }),
])

export const partitionSet: KindDefinition = kcpKind('topology.kcp.io', 'PartitionSet', [
  stored('v1alpha1', {
    schema: kindSchema(
      'PartitionSet creates a Partition for each combination of values of the given labels of shards.',
      {
        spec: object('Desired state.', {
          dimensions: list('Keys of the labels by whose values shards are divided.'),
          shardSelector,
        }),
        status: object('Observed state.', {
          conditions: kcpConditions,
          count: { type: 'integer', description: 'Number of Partitions.' },
        }),
      },
      { required: ['spec'] },
    ),
    columns: [path('Count', '.status.count'), crdAge],
    status: true,
  }),
])
