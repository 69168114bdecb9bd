import assert from 'node:assert/strict'
import { type Issuer, startIssuer } from '../../../test/support/servers/issuer.ts'
import { TokenError } from '../token.ts'
import { type JwtIssuer, jwtIssuer } from './jwttokens.ts'
import { checkRules } from './rules.ts'

const compiler = {
  compile: () => {
    throw new Error('expressions are not supported')
  },
  newBudget: () => ({ cost: 0, effort: { left: 0 } }),
}

describe('an issuer of a tenant', () => {
  let idp: Issuer
  beforeEach(async () => {
    idp = await startIssuer()
  })
  afterEach(() => idp.stop())

  /** With a discovery document that was read already. */
  async function prepared(): Promise<JwtIssuer> {
    const config = {
      issuer: { url: idp.url, certificateAuthority: idp.ca, audiences: ['oriel'] },
      claimMappings: { username: { claim: 'sub', prefix: '' } },
    }
    const { rules } = checkRules(config, 'jwt[0]', compiler)
    const issuer = jwtIssuer({ rules, cooldown: 60_000 })
    await issuer.prepare()
    return issuer
  }

  const refused = async (issuer: JwtIssuer, why: RegExp): Promise<void> => {
    for (const sub of ['a', 'b', 'c']) {
      const token = await idp.token({ sub })
      await assert.rejects(
        () => issuer.userOf(token),
        error => error instanceof TokenError && why.test(error.message) && error.message.length < 2_000,
      )
    }
  }

  it('is asked for its keys once in a while when they cannot be read', async () => {
    for (const [document, why] of [
      [{}, /malformed/],
      [{ keys: Array.from({ length: 101 }, () => ({})) }, /has 101 keys/],
      [{ keys: [], more: Array.from({ length: 30_000 }, () => 0) }, /too many values/],
    ] as const) {
      const issuer = await prepared()
      const before = idp.asked.get('/jwks') ?? 0
      idp.answer(document)
      await refused(issuer, why)
      idp.answer(undefined)
      assert.equal(idp.asked.get('/jwks'), before + 1)
    }
  })

  it('has short errors', async () => {
    idp.answer({ issuer: 'x'.repeat(500_000) })
    await refused(await prepared(), /issuer mismatch/)
  })
})
