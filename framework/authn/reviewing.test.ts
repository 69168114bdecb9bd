import assert from 'node:assert/strict'
import { StatusError } from '../meta/errors.ts'
import { reviewVerdicts } from './reviewing.ts'

interface Said {
  readonly user?: string
}

/** Reviews that end when `answer` is called with their token. Results are not cached. */
function reviewer() {
  const open = new Map<string, (said: Said) => void>()
  const verdicts = reviewVerdicts<Said>({
    longest: 0,
    userOf: ({ user: name }) => (name === undefined ? undefined : { name, groups: [] }),
  })
  return {
    open,
    review: (token: string, source: string): Promise<Said> =>
      verdicts.of(token, source, async () => {
        const value = await new Promise<Said>(resolve => open.set(token, resolve))
        return { value, expires: 0 }
      }),
    answer(token: string, said: Said): void {
      open.get(token)?.(said)
      open.delete(token)
    },
  }
}

/** Lets tokens be accepted as those of a user. */
async function accept(
  { review, answer }: Pick<ReturnType<typeof reviewer>, 'review' | 'answer'>,
  tokens: readonly string[],
  user: string,
): Promise<void> {
  const all = tokens.map(token => review(token, token))
  await passed()
  for (const token of tokens) answer(token, { user })
  await Promise.all(all)
}

const passed = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

describe('reviews of unknown tokens', () => {
  it('are limited for each source, and others find a place', async () => {
    const { open, review } = reviewer()
    const refusals: unknown[] = []
    for (let i = 0; i < 1_000; i++) review(`a${i}`, 'a').catch(error => refusals.push(error))
    await passed()
    assert.ok(open.size <= 16, `${open.size} reviews`)
    assert.ok(refusals.length > 900)
    assert.ok(refusals.every(error => error instanceof StatusError && error.code === 429))
    void review('b', 'b')
    await passed()
    assert.ok(open.has('b'))
  })

  it('are limited for all sources', async () => {
    const { open, review } = reviewer()
    for (let i = 0; i < 1_000; i++) review(`a${i}`, `s${i}`).catch(() => undefined)
    await passed()
    assert.ok(open.size <= 32, `${open.size} reviews`)
  })

  it('leave room for tokens that were accepted before', async () => {
    const { open, review, answer } = reviewer()
    await accept({ review, answer }, ['good'], 'carol')
    for (let i = 0; i < 1_000; i++) review(`a${i}`, `s${i}`).catch(() => undefined)
    void review('good', 's1')
    await passed()
    assert.ok(open.has('good'))
  })

  it('follow when one has ended', async () => {
    const { open, review, answer } = reviewer()
    for (let i = 0; i < 100; i++) review(`a${i}`, 'a').catch(() => undefined)
    await passed()
    const before = new Set(open.keys())
    for (const token of before) answer(token, {})
    await passed()
    assert.ok([...open.keys()].some(token => !before.has(token)))
  })
})

describe('reviews of tokens that were accepted before', () => {
  it('are limited for each account, and others find a place', async () => {
    const { open, review, answer } = reviewer()
    const tokens = Array.from({ length: 500 }, (_, i) => `t${i}`)
    for (let i = 0; i < tokens.length; i += 10)
      await accept({ review, answer }, tokens.slice(i, i + 10), 'eve')
    await accept({ review, answer }, ['good'], 'carol')
    for (const token of tokens) review(token, token).catch(() => undefined)
    void review('good', 'c')
    await passed()
    assert.ok(open.size <= 17, `${open.size} reviews`)
    assert.ok(open.has('good'))
  })
})
