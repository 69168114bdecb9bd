import assert from 'node:assert/strict'
import { Revisions } from './revisions.ts'

const numbers = ['0', '1', '9', '10', '999', '1000', '123456789012345']

describe('the version of several shards', () => {
  const revisions = new Revisions(['alpha', 'beta'])
  const pairs = numbers.flatMap(a => numbers.map(b => [a, b] as const))

  it('has the version of each', () => {
    for (const pair of pairs) assert.deepEqual(revisions.split(revisions.joined(pair)), pair)
  })

  it('is a number that grows when one of them grows', () => {
    for (const [a, b] of pairs)
      for (const [c, d] of pairs) {
        const isLater = BigInt(c) >= BigInt(a) && BigInt(d) >= BigInt(b) && (a !== c || b !== d)
        if (!isLater) continue
        const [before, after] = [revisions.joined([a, b]), revisions.joined([c, d])]
        assert.ok(BigInt(after) > BigInt(before), `${a} ${b}, then ${c} ${d}`)
        // No leading zero, as clients demand that compare versions.
        assert.match(after, /^[1-9]\d*$/)
      }
  })

  it('is none of other shards', () => {
    const version = revisions.joined(['5', '7'])
    for (const names of [['alpha', 'gamma'], ['alpha'], ['alpha', 'beta', 'gamma']])
      assert.throws(() => new Revisions(names).split(version), { code: 410 })
    for (const text of ['', '0', '-1', '5', `${version}0`, `1${version}`, version.slice(1), 'x'.repeat(60)])
      assert.throws(() => revisions.split(text), { code: 410 }, text)
  })
})
