import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Buckets } from './informers.ts'

interface Named {
  readonly id: string
  readonly state: number
}

describe('Buckets', () => {
  const change = fc.record({
    key: fc.constantFrom('a', 'b'),
    id: fc.constantFrom('1', '2', '3'),
    isAdded: fc.boolean(),
  })

  it('have the items that maps of maps would have, in the same order', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), changes => {
        const buckets = new Buckets<Named>(({ id }) => id)
        const model = { a: new Map<string, Named>(), b: new Map<string, Named>() }
        for (const [state, { key, id, isAdded }] of changes.entries()) {
          const item = { id, state }
          const expected = model[key as 'a' | 'b']
          if (isAdded) {
            buckets.add(key, item)
            expected.set(id, item)
          } else {
            buckets.delete(key, item)
            expected.delete(id)
          }
          assert.deepEqual(buckets.get(key), [...expected.values()])
          assert.equal(buckets.isEmpty, model.a.size + model.b.size === 0)
        }
      }),
    )
  })

  it('keep texts, too', () => {
    const buckets = new Buckets<string>(text => text)
    for (const text of ['x', 'y', 'x']) buckets.add('a', text)
    assert.deepEqual(buckets.get('a'), ['x', 'y'])
    buckets.delete('a', 'x')
    assert.deepEqual(buckets.get('a'), ['y'])
  })
})
