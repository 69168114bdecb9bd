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
  'One condition on one label.',
  {
    key: string('The label.', { maxLength: 317, ...rules([isLabelKey('self'), labelKeyMessage]) }),
    operator: oneOfStrings('How key and values relate.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
    values: atomicList('The values for In and NotIn.', {
      type: 'string',
      maxLength: 63,
      pattern: labelValue,
    }),
  },
  { required: ['key', 'operator'], ...rules([operatorRule, operatorMessage]) },
)

const shardSelector = atomicObject('The shards that are divided; all if unset.', {
  matchExpressions: atomicList('Conditions on labels, all of which must hold.', requirement, {
    maxItems: 10,
  }),
  matchLabels: map(
    'Labels that must have exactly these values.',
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
      'A group of shards that one endpoint covers.',
      { spec: object('What is wanted.', { selector: labelSelector('The shards of the group.') }) },
      { required: ['spec'] },
    ),
    columns: [path('Owner', '.metadata.ownerReferences[*].name'), crdAge],
    status: false,
  }),
])

export const partitionSet: KindDefinition = kcpKind('topology.kcp.io', 'PartitionSet', [
  stored('v1alpha1', {
    schema: kindSchema(
      'Divides shards into Partitions, one per combination of label values.',
      {
        spec: object('What is wanted.', {
          dimensions: list('The labels by whose values shards are divided.'),
          shardSelector,
        }),
        status: object('What was observed.', {
          conditions: kcpConditions,
          count: { type: 'integer', description: 'How many Partitions there are.' },
        }),
      },
      { required: ['spec'] },
    ),
    columns: [path('Count', '.status.count'), crdAge],
    status: true,
  }),
])
