import assert from 'node:assert/strict'
import { type FieldSteps, parseFieldPath } from './path.ts'
import { treeOf } from './paths.ts'
import { withUnwritable } from './unwritable.ts'

const paths = (...texts: readonly string[]): readonly FieldSteps[] =>
  texts.map(text => parseFieldPath(text) as FieldSteps)
const tree = treeOf(paths('spec.size', 'spec.items[*].color', 'spec.deep.a'))

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
