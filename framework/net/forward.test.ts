import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { createLifetime, type Lifetime } from '../async/lifetime.ts'
import { forward } from './forward.ts'
import { openFront } from './testing/front.ts'

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

  for (const [target, isComplete] of [
    ['/pods?watch=1', true],
    ['/pods?limit=1&watch', true],
    ['/pods?watch=false', false],
    ['/pods/a/log', false],
  ] as const)
    it(`${isComplete ? 'end' : 'are truncated'} when what they read is replaced, for ${target}`, async () => {
      const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController
      const dispatcher = {
        dispatch(_: unknown, handler: Dispatcher.DispatchHandler) {
          handler.onResponseStart?.(controller, 200, {})
          handler.onResponseData?.(controller, Buffer.from('one line\n'))
        },
      } as unknown as Dispatcher
      const to = { dispatcher, origin: 'https://example.com', target, headers: {}, answered: () => ({}) }
      let lifetime: Lifetime | undefined
      const front = await openFront(exchange => {
        lifetime = exchange.lifetime
        return { forward: client => forward(to, client) }
      })
      const asked = get({ port: front.port, path: target, agent: false })
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      await once(answer, 'readable')
      lifetime?.end('replaced')
      assert.equal(
        await text(answer).then(
          () => true,
          () => false,
        ),
        isComplete,
      )
      await front.drain(0)
    })
})
