import assert from 'node:assert/strict'
import { createVerdicts } from './verdicts.ts'

describe('results of tokens', () => {
  /** How often the tokens were judged, each twice. */
  async function judged(tokens: readonly string[], value: (token: string) => object): Promise<number> {
    const verdicts = createVerdicts<object>(60_000)
    let count = 0
    for (const token of [...tokens, ...tokens])
      await verdicts.of(token, async () => {
        count++
        return { value: value(token), expires: Number.POSITIVE_INFINITY }
      })
    return count
  }
  const names = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`)

  it('are kept', async () => assert.equal(await judged(names(1_000), name => ({ name })), 1_000))

  it('are not kept with megabytes of groups or audiences', async () =>
    assert.equal(await judged(names(2), () => ({ audiences: names(10_000) })), 4))

  it('are kept up to some megabytes together', async () => {
    const padding = 'x'.repeat(10_000)
    assert.equal(await judged(names(5_000), name => ({ name, padding })), 10_000)
  })
})
