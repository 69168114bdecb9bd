import assert from 'node:assert/strict'
import { stopClocks } from '../../test/support/time/clocks.ts'
import type { StatusError } from '../meta/errors.ts'
import { isUnchecked, TokenError, tokenAuthenticator } from './token.ts'
import { bearers } from './tokens.ts'
import { webhookTokens, webhookTokensDefaults } from './webhooktokens.ts'

const known = { authenticated: true, user: { username: 'ann', groups: ['devs'] } }

/** An authenticator whose webhook responds with these statuses in turn. */
function webhook(statuses: readonly unknown[], cacheTTL = 60_000) {
  const asked: unknown[] = []
  const send = async (review: object): Promise<unknown> => {
    const status = statuses[asked.length]
    asked.push(review)
    if (status instanceof Error) throw status
    return { status }
  }
  return { asked, read: webhookTokens({ send, version: 'v1', cacheTTL }) }
}

const refused = (work: unknown, message: string | RegExp) =>
  assert.rejects(
    async () => work,
    error => {
      assert.ok(error instanceof TokenError, String(error))
      assert.match(error.message, new RegExp(message))
      return true
    },
  )

describe('the token webhook', () => {
  it('receives the token and the accepted audiences', async () => {
    const { asked, read } = webhook([known])
    const groups = ['devs', 'system:authenticated']
    assert.deepEqual(await read('t', { audiences: ['us'] }), {
      user: { name: 'ann', groups },
      audiences: ['us'],
    })
    assert.deepEqual(asked, [
      {
        kind: 'TokenReview',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: {},
        spec: { token: 't', audiences: ['us'] },
      },
    ])
  })

  it('returns the audiences of a token', async () => {
    const { read } = webhook([{ ...known, audiences: ['them'] }, known])
    assert.deepEqual((await read('t', { audiences: ['us'] }))?.audiences, ['them'])
    assert.equal((await read('t', {}))?.audiences, undefined)
  })

  it('reviews a few unknown tokens at a time for each source', async () => {
    let asked = 0
    const send = (): Promise<never> => {
      asked++
      return new Promise(() => undefined)
    }
    const read = webhookTokens({ send, version: 'v1', cacheTTL: 60_000 })
    const refusals: unknown[] = []
    const ask = (token: string, source: string): void =>
      void Promise.resolve(read(token, { source })).catch(error => refusals.push(error))
    for (let i = 0; i < 500; i++) ask(`t${i}`, 'a')
    await new Promise(resolve => setImmediate(resolve))
    const some = asked
    assert.ok(some < 100, `${some} reviews`)
    assert.ok(refusals.every(error => (error as StatusError).code === 429))
    ask('other', 'b')
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(asked, some + 1)
  })

  it('is cached, also for rejected tokens', async () => {
    const { asked, read } = webhook([known, { authenticated: false, error: 'too old' }])
    for (let i = 0; i < 3; i++) assert.equal((await read('good', {}))?.user.name, 'ann')
    for (let i = 0; i < 3; i++) await refused(read('bad', {}), 'too old')
    assert.equal(asked.length, 2)
  })

  it('is cached for two minutes by default, also for rejected tokens', async () => {
    const clocks = stopClocks()
    try {
      const { asked, read } = webhook([known, {}, {}, known], webhookTokensDefaults.cacheTTL)
      await read('ended', {})
      await refused(read('begun', {}), 'unknown token')
      clocks.pass(120_000)
      await read('ended', {})
      await refused(read('begun', {}), 'unknown token')
      assert.equal(asked.length, 2)
      clocks.pass(1)
      await refused(read('ended', {}), 'unknown token')
      await read('begun', {})
      assert.equal(asked.length, 4)
    } finally {
      clocks.restore()
    }
  })

  it('is called every time with a cache TTL of 0', async () => {
    const { asked, read } = webhook([known, {}], 0)
    await read('t', {})
    await refused(read('t', {}), 'unknown token')
    assert.equal(asked.length, 2)
  })

  for (const [what, status] of [
    ['fails', new Error('no route')],
    ['answers nothing', undefined],
    ['names nobody', { authenticated: true, user: {} }],
    ['names groups that are none', { authenticated: true, user: { username: 'a', groups: [1] } }],
    ['says more that is nothing', { authenticated: true, user: { username: 'a', extra: { a: 'b' } } }],
  ] as const)
    it(`authenticates no user when it ${what}, and is called again`, async () => {
      const { read } = webhook([status, known])
      await refused(read('t', {}), /^token webhook failed: /)
      assert.equal((await read('t', {}))?.user.name, 'ann')
    })

  it('that fails does not say that the token is invalid', async () => {
    const { read } = webhook([new Error('timeout'), { authenticated: false }])
    const { authenticate } = bearers(tokenAuthenticator([read], ['']))
    const credentials = { headers: { authorization: 'Bearer t' } }
    const refusal = async (): Promise<unknown> => authenticate(credentials)
    await assert.rejects(refusal, error => isUnchecked(error as StatusError))
    await assert.rejects(refusal, error => !isUnchecked(error as StatusError))
  })
})
