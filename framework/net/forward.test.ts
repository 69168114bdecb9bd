import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { createLifetime } from '../async/lifetime.ts'
import { forward } from './forward.ts'

describe('forwarded requests', () => {
  it('are aborted in turns of other requests when many clients leave together', async () => {
    let aborted = 0
    const controller = { abort: () => aborted++ } as unknown as Dispatcher.DispatchController
    const dispatcher = {
      dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => {
        handler.onRequestStart?.(controller, undefined)
        return true
      },
    } as unknown as Dispatcher
    const lifetimes = Array.from({ length: 100 }, () => createLifetime(60_000))
    const failures = lifetimes.map(lifetime => {
      const client = { request: { method: 'GET', headers: {} }, response: {}, lifetime }
      const to = { dispatcher, origin: 'https://example.com', target: '/', headers: {}, answered: () => ({}) }
      return forward(to, client as never).catch((error: Error) => error)
    })
    for (const lifetime of lifetimes) lifetime.end('client gone')
    await Promise.all(failures)
    assert.equal(aborted, 0)
    while (aborted < lifetimes.length) await nextTurn()
  })
})
