import assert from 'node:assert/strict'
import { type FieldSteps, parseFieldPath } from './fieldsteps.ts'
import { treeOf } from './pathtree.ts'
import { withUnwritable } from './unwritable.ts'

const paths = (...texts: readonly string[]): readonly FieldSteps[] =>
  texts.map(text => parseFieldPath(text) as FieldSteps)
const tree = treeOf(paths('spec.size', 'spec.items[*].color', 'spec.deep.a', 'spec.map[*].a', 'spec.map.x.b'))

describe('what cannot be written', () => {
  for (const [what, sent, before, stored] of [
    ['is as it was', { spec: { size: 2 } }, { spec: { size: 1 } }, { spec: { size: 2 } }],
    ['gets no empty object', { spec: { size: 2, other: {} } }, { spec: {} }, { spec: { size: 2 } }],
    ['gets no null', { spec: { size: 2, other: null } }, { spec: {} }, { spec: { size: 2 } }],
    [
      'keeps its empty object',
      { spec: { size: 2 } },
      { spec: { other: {} } },
      { spec: { size: 2, other: {} } },
    ],
    ['keeps its null', { spec: {} }, { spec: { other: null } }, { spec: { other: null } }],
    ['gets no empty parent', { spec: { size: 1, deep: {} } }, { spec: {} }, { spec: { size: 1 } }],
    ['gets a parent of what is written', { spec: { deep: { a: 1 } } }, {}, { spec: { deep: { a: 1 } } }],
    ['lets a field go with its parent', {}, { spec: { size: 1 } }, { spec: {} }],
    [
      'keeps the rest of a parent that was not sent',
      {},
      { spec: { size: 1, other: {} } },
      { spec: { other: {} } },
    ],
    ['lets a field go with a null', { spec: null }, { spec: { deep: { a: 1 } } }, { spec: { deep: {} } }],
    [
      'gets no empty value of a map',
      { spec: { map: { k: {} } } },
      { spec: { map: {} } },
      { spec: { map: {} } },
    ],
    [
      'gets a value of a map with what is written',
      { spec: { map: { k: { a: 1, c: {} } } } },
      {},
      { spec: { map: { k: { a: 1 } } } },
    ],
    [
      'leaves what two paths lead through as it was sent',
      { spec: { map: { x: { a: 1, b: 2 } } } },
      {},
      { spec: { map: { x: { a: 1, b: 2 } } } },
    ],
    ['leaves a removed field away', { spec: {} }, { spec: { size: 1, x: 1 } }, { spec: { x: 1 } }],
    [
      'leaves lists with writable parts as they were sent',
      { spec: { items: [{ color: 'a' }] } },
      { spec: { items: [] } },
      { spec: { items: [{ color: 'a' }] } },
    ],
  ] as const)
    it(what, () => assert.deepEqual(withUnwritable(sent, before, tree), stored))
})
