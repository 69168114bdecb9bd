import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type FieldStep, type FieldSteps, hasPath, withoutPath } from './path.ts'
import { treeOf, withoutPaths } from './paths.ts'

const key = fc.constantFrom('a', 'b', '__proto__')
const { value: json } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(1, null, 'x'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const step: fc.Arbitrary<FieldStep> = fc.oneof(
  key.map(key => ({ key })),
  fc.constant<FieldStep>('each'),
)
const path: fc.Arbitrary<FieldSteps> = fc
  .tuple(fc.array(step, { maxLength: 3 }), key)
  .map(([steps, key]) => ({ text: '', steps: [...steps, { key }] }))

describe('several paths', () => {
  it('are removed in one walk as one after the other', () =>
    fc.assert(
      fc.property(json, fc.array(path, { maxLength: 5 }), (value, paths) => {
        const expected = paths.reduce<unknown>((rest, { steps }) => withoutPath(rest, steps), value)
        const found = withoutPaths(value, treeOf(paths))
        assert.deepEqual(found, expected)
        assert.equal(found === value, expected === value)
      }),
      { numRuns: 2_000 },
    ))

  it('are found without a copy where they can be removed', () =>
    fc.assert(
      fc.property(json, path, (value, { steps }) =>
        assert.equal(hasPath(value, steps), withoutPath(value, steps) !== value),
      ),
      { numRuns: 2_000 },
    ))
})
