import assert from 'node:assert/strict'
import { sorted } from './sorted.ts'

const spin = (milliseconds: number): void => {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

describe('sorting in turns', () => {
  it('has the order of Array.sort, with equal items in their order', async () => {
    for (const length of [0, 1, 255, 256, 257, 2_000]) {
      const items = Array.from({ length }, (_, i) => ({ value: (i * 7_919) % 101, i }))
      const compare = (a: { value: number }, b: { value: number }) => a.value - b.value
      assert.deepEqual(await sorted(items, compare), [...items].sort(compare))
    }
  })

  it('lets other requests work meanwhile', async () => {
    let [inTurn, most] = [0, 0]
    const compare = (a: number, b: number): number => {
      if (inTurn++ === 0)
        setImmediate(() => {
          inTurn = 0
        })
      most = Math.max(most, inTurn)
      if (inTurn % 128 === 0) spin(0.5)
      return a - b
    }
    await sorted(
      Array.from({ length: 4_000 }, (_, i) => (i * 7_919) % 4_001),
      compare,
    )
    assert.ok(most < 10_000, `${most} comparisons of about 40,000 in one turn`)
  })
})
