import assert from 'node:assert/strict'
import { Backoff, pauseAfter, retry } from './backoff.ts'

describe('back-off', () => {
  const isBetween = (pause: number, least: number): void =>
    assert.ok(pause >= least && pause <= least * 1.5, `${pause} is ${least} and up to a half more`)

  it('doubles up to a limit, with jitter, and begins again after a reset', () => {
    const backoff = new Backoff({ first: 100, longest: 1_000 })
    for (const least of [100, 200, 400, 800, 1_000, 1_000]) isBetween(backoff.next(), least)
    backoff.reset()
    isBetween(backoff.next(), 100)
  })

  it('grows by another factor, and has its limit after thousands of failures', () => {
    isBetween(pauseAfter(3, { first: 100, longest: 1_000, factor: 1.5 }), 225)
    isBetween(pauseAfter(5_000, { first: 5, longest: 60_000 }), 60_000)
  })

  it('ends a pause when the signal aborts', async () => {
    const stop = new AbortController()
    const paused = new Backoff({ first: 60_000, longest: 60_000 }).pause(stop.signal)
    stop.abort()
    await paused
  })

  it('retries until there is a success', async () => {
    const errors: string[] = []
    let left = 3
    const act = async (): Promise<string> => {
      if (left-- > 0) throw new Error(`${left} left`)
      return 'done'
    }
    const { signal } = new AbortController()
    const failed = (error: unknown): void => void errors.push(String(error))
    assert.equal(await retry(act, { first: 1, longest: 1, signal, failed }), 'done')
    assert.deepEqual(errors, ['Error: 2 left', 'Error: 1 left', 'Error: 0 left'])
  })

  it('retries no more when the signal has aborted', async () => {
    const stop = new AbortController()
    let calls = 0
    const act = (): Promise<never> => Promise.reject(new Error(`call ${++calls}`))
    const options = { first: 60_000, longest: 60_000, signal: stop.signal, failed: () => stop.abort() }
    await assert.rejects(retry(act, options), /call 1/)
  })
})
