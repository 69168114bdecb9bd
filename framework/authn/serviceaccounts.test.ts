import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { serviceUnavailable } from '../meta/errors.ts'
import { serviceAccountTokens, type TokenGrant, tokenIssuer } from './serviceaccounts.ts'
import { signingKeys } from './signingkeys.ts'
import { createObjects, type Objects } from './testing/objects.ts'
import { type BearerTokenReader, TokenError } from './token.ts'

const pemOf = (type: 'ec' | 'rsa'): string => {
  const { privateKey } =
    type === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
const issuer = 'https://kcp.default.svc'
const ref = { cluster: 'one', namespace: 'default', name: 'robot', uid: 'u1' }
const grant: TokenGrant = { ...ref, audiences: [issuer], seconds: 600 }
const account = (uid: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'default', uid, ...more },
})
const secret = (uid: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'held', namespace: 'default', uid },
  ...more,
})
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('service account tokens', () => {
  const pem = pemOf('ec')
  const keys = signingKeys(pem)
  const { issue, legacy } = tokenIssuer({ keys, issuer })
  let objects: Objects
  let read: BearerTokenReader
  beforeEach(() => {
    objects = createObjects()
    objects.put('one', account('u1'))
    read = serviceAccountTokens({ keys, issuer, informers: objects })
  })
  const refused = (token: string, why: RegExp): Promise<void> =>
    assert.rejects(
      async () => read(token, {}),
      error => error instanceof TokenError && why.test(error.message),
    )
  const claims = {
    iss: issuer,
    aud: [issuer],
    exp: Math.floor(Date.now() / 1000) + 600,
    'kubernetes.io': {
      clusterName: 'one',
      namespace: 'default',
      serviceaccount: { name: 'robot', uid: 'u1' },
    },
  }

  it('of another shard are valid while that shard accepts them, after their signature is verified', async () => {
    const reviews: (readonly string[] | undefined)[] = []
    let answer: () => Promise<boolean> = async () => true
    const elsewhere = (cluster: string) =>
      cluster === 'one'
        ? undefined
        : (_: string, audiences?: readonly string[]) => {
            reviews.push(audiences)
            return answer()
          }
    read = serviceAccountTokens({ keys, issuer, informers: objects, elsewhere })
    const { token } = await issue({ ...grant, cluster: 'two' })
    assert.equal((await read(token, {}))?.user.name, 'system:serviceaccount:default:robot')
    assert.deepEqual(reviews, [[issuer]])
    answer = async () => false
    await refused(token, /the shard of the service account does not accept the token/)
    answer = () => Promise.reject(new Error('no answer'))
    await refused(token, /the shard of the service account does not accept the token/)
    answer = () => Promise.reject(serviceUnavailable('it moves'))
    await assert.rejects(async () => read(token, {}), { code: 503 })
    await refused(`${token.slice(0, -8)}AAAAAAAA`, /invalid signature/)
    assert.equal(reviews.length, 4)
    assert.ok(await read((await issue(grant)).token, {}), 'tokens of this shard are not reviewed elsewhere')
    assert.equal(reviews.length, 4)
  })

  it('may be of several issuers, of which one issues', async () => {
    const options = { keys, issuer: 'https://new', formerIssuers: [issuer], informers: objects }
    const reader = serviceAccountTokens(options)
    const made = tokenIssuer({ ...options, audiences: ['a', 'b'], longest: 7200 })
    assert.deepEqual([made.audiences, made.longest], [['a', 'b'], 7200])
    for (const { token } of [await made.issue(grant), await issue(grant)])
      assert.equal((await reader(token, {}))?.user.name, 'system:serviceaccount:default:robot')
    assert.equal(await read((await made.issue(grant)).token, {}), undefined)
  })

  it('have the user, cluster and audiences', async () => {
    const { token, credentialId } = await issue(grant)
    assert.deepEqual(await read(token, {}), {
      audiences: [issuer],
      user: {
        name: 'system:serviceaccount:default:robot',
        uid: 'u1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
        extra: {
          'authentication.kcp.io/cluster-name': ['one'],
          'authentication.kcp.io/scopes': ['cluster:one'],
          'authentication.kubernetes.io/credential-id': [credentialId],
        },
      },
    })
  })

  it('end with their account, at once, and stay ended when another one takes its name', async () => {
    const { token } = await issue(grant)
    await read(token, {})
    objects.put('one', account('u1', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x'] }))
    await refused(token, /has been deleted/)
    objects.remove('one', 'ServiceAccount', 'default', 'robot')
    await refused(token, /"robot" not found/)
    objects.put('one', account('u2'))
    await refused(token, /UID \(u2\) does not match claim \(u1\)/)
  })

  it('of an equally named account of another cluster are not the same', async () => {
    objects.put('two', account('u2'))
    await refused((await issue({ ...grant, cluster: 'two' })).token, /does not match/)
  })

  it('end with the secret they are bound to', async () => {
    objects.put('one', secret('s1'))
    const { token } = await issue({ ...grant, secret: { name: 'held', uid: 's1' } })
    assert.equal((await read(token, {}))?.user.uid, 'u1')
    objects.put('one', secret('s2'))
    await refused(token, /secret UID/)
    objects.remove('one', 'Secret', 'default', 'held')
    await refused(token, /has been invalidated/)
  })

  it('kept in a secret are good as long as the secret holds them', async () => {
    const token = await legacy(ref, 'held')
    await refused(token, /has been invalidated/)
    const data = { token: Buffer.from(token).toString('base64') }
    objects.put('one', secret('s1', { data }))
    const found = await read(token, {})
    assert.equal(found?.audiences, undefined)
    assert.deepEqual(found?.user.extra?.['authentication.kcp.io/cluster-name'], ['one'])
    objects.put('one', secret('s1', { data: { token: 'bm8=' } }))
    await refused(token, /does not match server's copy/)
  })

  it('of other issuers are left to other authenticators', async () => {
    for (const token of [
      'x',
      'a.b.c',
      'a.b',
      `${encode({ alg: 'none' })}.${encode({ iss: 'https://other' })}.`,
    ])
      assert.equal(await read(token, {}), undefined)
  })

  it('are refused without a signature, with a foreign key, and with the public key as a secret', async () => {
    const body = encode(claims)
    await refused(`${encode({ alg: 'none' })}.${body}.`, /invalid signature/)
    const { keys: published } = await keys.published()
    const kid = published[0]?.kid ?? ''
    const stolen = `${encode({ alg: 'HS256', kid })}.${body}`
    const spki = publicPem(pem)
    await refused(
      `${stolen}.${createHmac('sha256', spki).update(stolen).digest('base64url')}`,
      /invalid signature/,
    )
    const foreign = tokenIssuer({ keys: signingKeys(pemOf('ec')), issuer })
    await refused((await foreign.issue(grant)).token, /no keys found/)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await refused(await sign(privateKey, { alg: 'ES256', kid }, claims), /invalid signature/)
    await refused(await sign(privateKey, { alg: 'ES256', kid: '../../dev/null' }, claims), /no keys found/)
  })

  it('are refused when expired, not yet valid, or without required claims', async () => {
    const now = Math.floor(Date.now() / 1000)
    const made = (more: object) => keys.sign({ ...claims, ...more })
    await refused(await made({ exp: now - 61 }), /has expired/)
    assert.ok(await read(await made({ exp: now - 30 }), {}), 'clocks may differ by a minute')
    await refused(await made({ nbf: now + 120 }), /not valid yet/)
    const { exp: _, ...endless } = claims
    await refused(await keys.sign(endless), /could not be validated/)
    const { serviceaccount } = claims['kubernetes.io']
    for (const said of [
      undefined,
      { clusterName: { a: 1 }, namespace: 'default', serviceaccount },
      { serviceaccount },
    ])
      await refused(await made({ 'kubernetes.io': said }), /could not be validated/)
    const pod = { ...claims['kubernetes.io'], pod: { name: 'p', uid: 'p1' } }
    await refused(await made({ 'kubernetes.io': pod }), /has been invalidated/)
  })

  it('have their signature checked once', async () => {
    let checked = 0
    const verify = (token: string) => {
      checked++
      return keys.verify(token)
    }
    const counting = { ...keys, verify }
    read = serviceAccountTokens({ keys: counting, issuer, informers: objects })
    const { token } = await issue(grant)
    await Promise.all([read(token, {}), read(token, {}), read(token, {})])
    await read(token, {})
    assert.equal(checked, 1)
    await refused(`${token}x`, /invalid signature/)
    assert.equal(checked, 2)
  })

  it('signed by a key that was replaced are good as long as it stays in the file', async () => {
    const { token } = await issue(grant)
    const replaced = signingKeys(`${pemOf('rsa')}\n${pem}`)
    assert.deepEqual(replaced.algorithms, ['ES256', 'RS256'])
    assert.ok(await serviceAccountTokens({ keys: replaced, issuer, informers: objects })(token, {}))
    const fresh = await tokenIssuer({ keys: replaced, issuer }).issue(grant)
    await refused(fresh.token, /no keys found/)
  })

  it('need keys that sign', () => {
    assert.throws(() => signingKeys('nothing'), /no key in PEM format/)
    const { privateKey } = generateKeyPairSync('ed25519')
    const odd = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    assert.throws(() => signingKeys(odd), /unsupported key type ed25519/)
  })
})

const publicPem = (pem: string): string =>
  createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()

const sign = (key: KeyObject, header: { alg: string; kid: string }, claims: object): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader(header).sign(key)
