import assert from 'node:assert/strict'
import { createHmac, createPublicKey } from 'node:crypto'
import { mock } from 'node:test'
import type { JWK } from 'jose'
import { type Issuer, startIssuer } from '../../../test/support/servers/issuer.ts'
import { stopClocks } from '../../../test/support/time/clocks.ts'
import { createAddressPolicy } from '../../net/addresspolicy.ts'
import type { UserInfo } from '../../request/user.ts'
import { TokenError } from '../token.ts'
import { jwtTokens } from './authenticationconfig.ts'
import type { ExpressionCompiler, JwtConfig } from './config.ts'
import { type JwtIssuer, jwtIssuer } from './jwttokens.ts'
import { checkRules } from './rules.ts'

const none: ExpressionCompiler = {
  compile: () => {
    throw new Error('expressions are not supported')
  },
  newBudget: () => ({ cost: 0, effort: { left: 0 } }),
}
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const now = (): number => Math.floor(Date.now() / 1000)

function configOf({ url, ca }: Pick<Issuer, 'url' | 'ca'>, more: Partial<JwtConfig> = {}): JwtConfig {
  return {
    issuer: { url, certificateAuthority: ca, audiences: ['oriel'] },
    claimMappings: {
      username: { claim: 'sub', prefix: 'oidc:' },
      groups: { claim: 'groups', prefix: 'oidc:' },
      uid: { claim: 'uid' },
    },
    ...more,
  }
}

function issuerOf(config: JwtConfig, cooldown = 0): JwtIssuer {
  const { rules, errors } = checkRules(config, 'jwt[0]', none)
  assert.deepEqual(errors, [])
  return jwtIssuer({ rules, cooldown })
}

const refused = (promise: unknown, why: RegExp): Promise<void> =>
  assert.rejects(
    async () => promise,
    error => error instanceof TokenError && why.test(error.message),
  )

describe('tokens of an OpenID issuer', () => {
  let idp: Issuer
  let issuer: JwtIssuer
  beforeEach(async () => {
    idp = await startIssuer()
    issuer = issuerOf(configOf(idp))
  })
  afterEach(() => idp.stop())
  const bob = { sub: 'bob', uid: '7', groups: ['devs'] }

  it('make users by their claims', async () => {
    const user = await issuer.userOf(await idp.token({ ...bob, jti: 'x1' }))
    assert.deepEqual(user, {
      name: 'oidc:bob',
      uid: '7',
      groups: ['oidc:devs', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=x1'] },
    } satisfies UserInfo)
    assert.deepEqual((await issuer.userOf(await idp.token({ ...bob, groups: 'ops' }))).groups, [
      'oidc:ops',
      'system:authenticated',
    ])
  })

  it('fetch the issuer’s keys once for concurrent requests', async () => {
    await Promise.all(['a', 'b', 'c'].map(async sub => issuer.userOf(await idp.token({ ...bob, sub }))))
    assert.deepEqual([...idp.asked.values()], [1, 1])
  })

  it('are good with a new key, and not with a withdrawn one', async () => {
    const old = await idp.token(bob)
    await issuer.userOf(old)
    await idp.rotate('published')
    await issuer.userOf(await idp.token(bob))
    await issuer.userOf(await idp.token({ ...bob, sub: 'eve' }))
    await idp.rotate('withdrawn')
    const fresh = issuerOf(configOf(idp))
    await fresh.userOf(await idp.token(bob))
    await refused(fresh.userOf(old), /no applicable key found/)
  })

  it('of a withdrawn key end within ten seconds', async () => {
    const clocks = stopClocks()
    try {
      const old = await idp.token(bob)
      await issuer.userOf(old)
      await idp.rotate('withdrawn')
      const fresh = await idp.token(bob)
      await issuer.userOf(fresh)
      clocks.pass(10_000)
      assert.equal((await issuer.userOf(old)).name, 'oidc:bob')
      clocks.pass(1)
      await refused(issuer.userOf(old), /no applicable key found/)
      assert.equal((await issuer.userOf(fresh)).name, 'oidc:bob')
    } finally {
      clocks.restore()
    }
  })

  it('with unknown keys do not make us ask the issuer each time', async () => {
    const patient = issuerOf(configOf(idp), 60_000)
    await patient.userOf(await idp.token(bob))
    for (const kid of ['a', 'b', '../../etc/passwd', 'https://evil/jwks'])
      await refused(patient.userOf(await idp.token(bob, { kid })), /no applicable key found/)
    assert.equal(idp.asked.get('/jwks'), 1)
  })

  it('are tried with every key where none is named', async () => {
    const anonymous = await startIssuer({ anonymousKeys: true })
    const token = await anonymous.token(bob)
    await anonymous.rotate('published')
    const own = issuerOf(configOf(anonymous))
    assert.equal((await own.userOf(token)).name, 'oidc:bob')
    assert.equal((await own.userOf(await anonymous.token(bob))).name, 'oidc:bob')
    await anonymous.stop()
  })

  it('are tried with twenty keys at most', async () => {
    const many = await startIssuer({ anonymousKeys: true, algorithm: 'ES256' })
    const rotate = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) await many.rotate('published')
    }
    await rotate(19)
    const twentieth = await many.token(bob)
    await rotate(1)
    const own = issuerOf(configOf(many))
    await own.userOf(twentieth)
    await refused(own.userOf(await many.token(bob)), /multiple matching keys/)
    await many.stop()
  })

  it('are refused when expired, not yet valid, without expiry, or of another issuer or audience', async () => {
    const { url } = idp
    for (const [claims, why] of [
      [{ exp: now() - 1 }, /expired/],
      [{ nbf: now() + 400 }, /nbf/],
      [{ aud: 'other' }, /aud/],
      [{ aud: [] }, /aud/],
      [{ aud: ['other', 'another'], azp: 'oriel' }, /aud/],
      [{ iss: `${url}/` }, /iss/],
      [{ exp: undefined }, /exp/],
    ] as const)
      await refused(issuer.userOf(await idp.token({ ...bob, ...claims })), why)
    assert.ok(await issuer.userOf(await idp.token({ ...bob, nbf: now() + 200, aud: ['x', 'oriel'] })))
  })

  it('end in mid-use', async () => {
    let time = Date.now()
    for (const clock of [Date, performance]) mock.method(clock, 'now', () => time)
    try {
      const token = await idp.token({ ...bob, exp: now() + 2 })
      await issuer.userOf(token)
      time += 2001
      await refused(issuer.userOf(token), /expired/)
    } finally {
      mock.reset()
    }
  })

  it('are refused without a signature, and signed with the public key', async () => {
    await issuer.userOf(await idp.token(bob))
    const body = encode({ iss: idp.url, aud: 'oriel', exp: now() + 600, ...bob })
    await refused(issuer.userOf(`${encode({ alg: 'none' })}.${body}.`), /alg/i)
    const jwk = await idp.publicKey()
    const pem = createPublicKey({ key: jwk as JWK, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
    for (const secret of [String(pem), JSON.stringify(jwk), String(jwk.n)]) {
      const head = `${encode({ alg: 'HS256', kid: jwk.kid })}.${body}`
      const signature = createHmac('sha256', secret).update(head).digest('base64url')
      await refused(issuer.userOf(`${head}.${signature}`), /alg/i)
    }
    const [head, , signature] = (await idp.token(bob)).split('.')
    await refused(issuer.userOf(`${head}.${body}.${signature}`), /signature/)
  })

  it('do not bring their own keys', async () => {
    const other = await startIssuer()
    const jwk = await other.publicKey()
    for (const header of [{ jwk }, { jku: `${other.url}/jwks` }, { x5u: other.url }])
      await refused(
        issuer.userOf(await other.token({ iss: idp.url, ...bob }, { ...header, kid: 'key-0' })),
        /signature/,
      )
    assert.equal(other.asked.size, 0)
    await other.stop()
  })

  it('wait for an issuer that is down, and work once it is there', async () => {
    const token = await idp.token(bob)
    for (const instead of [
      500,
      302,
      { issuer: 'https://other', jwks_uri: `${idp.url}/jwks` },
      { issuer: idp.url },
    ]) {
      idp.answer(instead)
      await refused(issuer.userOf(token), /not initialized/)
    }
    idp.answer(undefined)
    assert.equal((await issuer.userOf(token)).name, 'oidc:bob')
  })

  it('do not make us ask a dead issuer each time', async () => {
    idp.answer(500)
    const patient = issuerOf(configOf(idp), 60_000)
    const token = await idp.token(bob)
    for (let i = 0; i < 5; i++) await refused(patient.userOf(token), /not initialized/)
    assert.equal(idp.asked.get('/.well-known/openid-configuration'), 1)
  })

  it('are refused when the certificate of the issuer is not trusted', async () => {
    const { certificateAuthority: _, ...rest } = configOf(idp).issuer
    await refused(issuerOf(configOf(idp, { issuer: rest })).userOf(await idp.token(bob)), /not initialized/)
  })

  it('may have another discovery URL', async () => {
    const discoveryURL = `${idp.url}/.well-known/openid-configuration`
    const { rules } = checkRules(
      configOf(idp, { issuer: { ...configOf(idp).issuer, discoveryURL } }),
      'jwt[0]',
      none,
    )
    await jwtIssuer({ rules }).userOf(await idp.token(bob))
  })

  it('of issuers of tenants at private addresses are refused', async () => {
    const { rules } = checkRules(configOf(idp), 'jwt[0]', none)
    const tenant = jwtIssuer({ rules, addresses: createAddressPolicy({ allow: [] }) })
    await refused(tenant.userOf(await idp.token(bob)), /has no public address/)
    assert.equal(idp.asked.size, 0)
  })

  it('must have the claims that are needed, as they are needed', async () => {
    for (const [claims, why] of [
      [{ sub: undefined }, /parse username claims "sub": claim not present/],
      [{ sub: 7 }, /parse username claims "sub"/],
      [{ groups: [1] }, /parse groups claim "groups"/],
      [{ groups: { a: 'b' } }, /parse groups claim "groups"/],
      [{ uid: 7 }, /parse uid claim "uid"/],
    ] as const)
      await refused(issuer.userOf(await idp.token({ ...bob, ...claims })), why)
    const strict = issuerOf(
      configOf(idp, { claimValidationRules: [{ claim: 'tenant', requiredValue: 'us' }] }),
    )
    await refused(strict.userOf(await idp.token(bob)), /required claim tenant not present/)
    await refused(strict.userOf(await idp.token({ ...bob, tenant: 'them' })), /value does not match/)
    assert.ok(await strict.userOf(await idp.token({ ...bob, tenant: 'us' })))
  })

  it('name no user that is too long', async () => {
    const groups = Array.from({ length: 5_000 }, (_, i) => `g${i}`)
    const prefix = 'x'.repeat(1_000_000)
    const long = issuerOf(
      configOf(idp, {
        claimMappings: { username: { claim: 'sub', prefix }, groups: { claim: 'groups', prefix } },
      }),
    )
    await refused(long.userOf(await idp.token({ sub: 'bob', groups })), /the user has 5001\d{6} characters/)
    assert.equal(
      (await issuer.userOf(await idp.token({ sub: 'bob', uid: '7', groups }))).groups.length,
      5_001,
    )
  })

  it('name no user by an address that is not verified', async () => {
    const byMail = issuerOf(configOf(idp, { claimMappings: { username: { claim: 'email', prefix: '' } } }))
    const email = 'bob@example.com'
    assert.equal((await byMail.userOf(await idp.token({ email }))).name, email)
    assert.equal((await byMail.userOf(await idp.token({ email, email_verified: true }))).name, email)
    for (const verified of [false, 'true', null])
      await refused(byMail.userOf(await idp.token({ email, email_verified: verified })), /email not verified/)
  })

  it('cannot have users and groups of the system, unless the issuer is allowed to', async () => {
    const plain = issuerOf(
      configOf(idp, {
        claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } },
      }),
    )
    const groups = ['system:masters', 'devs', 'system:kcp:admin', 'devs']
    const token = await idp.token({ sub: 'bob', groups })
    const safe = await jwtTokens(() => [plain], false)(token, {})
    assert.deepEqual(safe?.user.groups, ['devs', 'system:authenticated'])
    const trusted = await jwtTokens(() => [plain], true)(token, {})
    assert.ok(trusted?.user.groups.includes('system:masters'))
    const admin = await idp.token({ sub: 'system:admin' })
    await refused(jwtTokens(() => [plain], false)(admin, {}), /system usernames are not admitted/)
    assert.equal(await jwtTokens(() => [plain], false)('opaque', {}), undefined)
  })
})
