import assert from 'node:assert/strict'
import { type Issuer, type IssuerOptions, startIssuer } from '../../../test/support/servers/issuer.ts'
import { stopClocks } from '../../../test/support/time/clocks.ts'
import { TokenError } from '../token.ts'
import { type JwtIssuer, jwtIssuer } from './jwttokens.ts'
import { checkRules } from './rules.ts'

const compiler = {
  compile: () => {
    throw new Error('expressions are not supported')
  },
  newBudget: () => ({ cost: 0, effort: { left: 0 } }),
}

function trusting({ url, ca }: Issuer, cooldown: number): JwtIssuer {
  const config = {
    issuer: { url, certificateAuthority: ca, audiences: ['oriel'] },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
  }
  return jwtIssuer({ rules: checkRules(config, 'jwt[0]', compiler).rules, cooldown })
}

const tenMinutes = 10 * 60 * 1000

describe('the keys of an issuer', () => {
  const bob = { sub: 'bob' }
  let idp: Issuer
  const start = async (options: IssuerOptions = {}): Promise<void> => {
    idp = await startIssuer(options)
  }
  afterEach(() => idp.stop())

  const refused = (promise: Promise<unknown>, why: RegExp): Promise<void> =>
    assert.rejects(promise, error => error instanceof TokenError && why.test(error.message))

  it('are read again for a token of a new key without an ID', async () => {
    await start({ anonymousKeys: true })
    const issuer = trusting(idp, 0)
    const old = await idp.token(bob)
    await issuer.userOf(old)
    await idp.rotate('withdrawn')
    assert.equal((await issuer.userOf(await idp.token(bob))).name, 'bob')
    await refused(issuer.userOf(await idp.token({ ...bob, aud: 'other' })), /aud/)
  })

  it('are read again for a token of a new key with the ID of the old one', async () => {
    await start({ keyId: 'only' })
    const issuer = trusting(idp, 0)
    await issuer.userOf(await idp.token(bob))
    await idp.rotate('withdrawn')
    assert.equal((await issuer.userOf(await idp.token(bob))).name, 'bob')
  })

  it('are not read again for each token with a wrong signature', async () => {
    await start({ keyId: 'only' })
    const other = await startIssuer({ keyId: 'only' })
    const issuer = trusting(idp, 60_000)
    await issuer.userOf(await idp.token(bob))
    for (const sub of ['a', 'b', 'c'])
      await refused(issuer.userOf(await other.token({ iss: idp.url, sub })), /signature verification failed/)
    assert.equal(idp.asked.get('/jwks'), 1)
    await other.stop()
  })

  it('stay in use while the issuer does not answer, and only then', async () => {
    await start()
    const issuer = trusting(idp, 10_000)
    const [old, later, last] = await Promise.all(
      [bob, { sub: 'eve' }, { sub: 'zoe' }].map(each => idp.token(each)),
    )
    await issuer.userOf(old ?? '')
    const clocks = stopClocks()
    try {
      clocks.pass(tenMinutes)
      idp.answer(500)
      assert.equal((await issuer.userOf(later ?? '')).name, 'eve')
      await idp.rotate('withdrawn')
      idp.answer(undefined)
      clocks.pass(10_001)
      await refused(issuer.userOf(last ?? ''), /no applicable key found/)
    } finally {
      clocks.restore()
    }
  })
})
