import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { FieldStep } from '../../../framework/lens/fieldcutter.ts'
import { type FieldSteps, hasPath } from './fieldsteps.ts'
import { treeOf, withoutPaths } from './pathtree.ts'
import { isFields } from './values.ts'

/** The value without what is at the path; the same value if there is nothing. */
function withoutPath(value: unknown, [step, ...rest]: readonly FieldStep[]): unknown {
  if (step === undefined) return value
  if (step === 'each') return mapEach(value, each => withoutPath(each, rest))
  if (!isFields(value) || !Object.hasOwn(value, step.key)) return value
  const { [step.key]: child, ...others } = value
  if (rest.length === 0) return others
  const next = withoutPath(child, rest)
  return next === child ? value : { ...value, [step.key]: next }
}

/** The same value if no part changes. */
function mapEach(value: unknown, change: (part: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    const parts = value.map(change)
    return parts.every((part, i) => part === value[i]) ? value : parts
  }
  if (!isFields(value)) return value
  const entries = Object.entries(value).map(([key, part]) => [key, change(part)] as const)
  return entries.every(([key, part]) => part === value[key]) ? value : Object.fromEntries(entries)
}

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
