import type { KubeObject, OwnKind } from '../../../framework/index.ts'
import { viewsGroup } from '../../../kcp/index.ts'

const text = { type: 'string' }
const numbers = { type: 'object', additionalProperties: { type: 'number' } }

/** An aggregate of the objects of a View: one object for each group. */
export const aggregateKind: OwnKind = {
  group: viewsGroup,
  version: 'v1alpha1',
  resource: 'aggregates',
  kind: 'Aggregate',
  columns: {
    Aggregate: ({ aggregate }: Fields) => String(aggregate),
    Group: ({ group }: Fields) =>
      Object.entries((group ?? {}) as Readonly<Record<string, string>>)
        .map(([name, value]) => `${name}=${value}`)
        .join(','),
    Count: ({ count }: Fields) => Number(count),
  },
  selectableFields: { aggregate: ({ aggregate }: Fields) => String(aggregate) },
  schema: {
    type: 'object',
    description:
      'Aggregate has the count of the objects of a View in one group, and what is computed of them.',
    properties: {
      aggregate: { ...text, description: 'Name of the entry of spec.aggregate of the View.' },
      group: {
        type: 'object',
        additionalProperties: text,
        description: 'Values of the expressions of "by", as text.',
      },
      count: { type: 'integer', description: 'Number of objects.' },
      sum: { ...numbers, description: 'Sums by name.' },
      min: { ...numbers, description: 'Least values by name.' },
      max: { ...numbers, description: 'Greatest values by name.' },
    },
  },
}

type Fields = KubeObject & { readonly [field: string]: unknown }
