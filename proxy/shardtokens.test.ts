import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { reviewsAFewOfEachSource } from '../framework/authn/testing/unknowntokens.ts'
import type { PeerClient } from '../framework/contract/peer.ts'
import { StatusError } from '../framework/meta/errors.ts'
import type { ShardAddress } from './shardindex.ts'
import { shardTokens } from './shardtokens.ts'

const encoded = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url')
const token = (claims: object): string => `${encoded({ alg: 'RS256' })}.${encoded(claims)}.signature`

const shards: Readonly<Record<string, ShardAddress>> = {
  root: { name: 'root', baseURL: 'https://root' },
  abc: { name: 'beta', baseURL: 'https://beta' },
}

describe('tokens that shards authenticate', () => {
  let asked: string[]
  let answer: () => object
  const reader = () =>
    shardTokens({ shardOf: cluster => shards[cluster] }, ({ name }) => {
      const post = (path: string): Promise<never> => {
        asked.push(`${name} ${path.split('/')[2]}`)
        return Promise.resolve(answer()) as Promise<never>
      }
      return { post } as unknown as PeerClient
    })
  beforeEach(() => {
    asked = []
    answer = () => ({ status: { authenticated: true, user: { username: 'sa', groups: ['a'], uid: '1' } } })
  })

  it('of service accounts are reviewed by the shard of their workspace', async () => {
    const read = reader()
    for (const claims of [
      { 'kubernetes.io': { clusterName: 'abc' } },
      { 'kubernetes.io/serviceaccount/clusterName': 'abc' },
    ])
      assert.equal((await read(token(claims), { cluster: 'root' }))?.user.name, 'sa')
    assert.deepEqual(asked, ['beta abc', 'beta abc'])
  })

  it('of other issuers are reviewed by the shard of the request, or in root', async () => {
    const read = reader()
    for (const name of ['../root', 'root/x', '*', '', 7, { a: 1 }])
      await read(token({ 'kubernetes.io': { clusterName: name }, n: String(name) }), { cluster: 'abc' })
    await read('opaque', {})
    assert.deepEqual(asked, [...Array(6).fill('beta abc'), 'root root'])
  })

  it('are not authenticated when there is no shard', async () => {
    assert.equal(await reader()(token({ 'kubernetes.io': { clusterName: 'unknown' } }), {}), undefined)
    assert.deepEqual(asked, [])
  })

  it('are reviewed once for each workspace', async () => {
    const read = reader()
    for (const cluster of ['abc', 'abc', 'root', 'abc']) await read('opaque', { cluster })
    assert.deepEqual(asked, ['beta abc', 'root root'])
  })

  it('are refused with the message of the shard', async () => {
    answer = () => ({ status: { user: {}, error: 'invalid bearer token' } })
    await assert.rejects(async () => reader()('opaque', {}), {
      name: 'TokenError',
      message: 'invalid bearer token',
    })
    answer = () => ({ status: { authenticated: true, user: {} } })
    await assert.rejects(async () => reader()('other', {}), { name: 'TokenError' })
    answer = () => {
      throw new StatusError(502, 'BadGateway', 'no shard')
    }
    await assert.rejects(async () => reader()('third', {}), { message: 'no shard' })
  })

  describe('as a shard that was taken over asserts them', () => {
    const claims = { 'kubernetes.io': { clusterName: 'abc' } }
    const asserted = async (user: object) => {
      answer = () => ({ status: { authenticated: true, user } })
      return (await reader()(token(claims), { cluster: 'root' }))?.user
    }
    const where = {
      'authentication.kcp.io/scopes': ['cluster:abc'],
      'authentication.kcp.io/cluster-name': ['abc'],
    }

    it('"I am an administrator, in all workspaces": a user of its own logical cluster', async () => {
      const extra = {
        'authorization.kcp.io/warrant': ['{"user":"admin","groups":["system:kcp:admin"]}'],
        'authentication.kcp.io/scopes': ['cluster:root'],
        'authentication.kcp.io/cluster-name': ['root'],
        team: ['a'],
      }
      assert.deepEqual(await asserted({ username: 'ada', groups: ['system:kcp:admin', 'dev'], extra }), {
        name: 'ada',
        groups: ['dev', 'system:authenticated'],
        extra: { team: ['a'], ...where },
      })
    })

    it('"I am a service account of another logical cluster": one of its own', async () => {
      const username = 'system:serviceaccount:default:robot'
      const extra = { 'authentication.kcp.io/cluster-name': ['root'] }
      assert.deepEqual(await asserted({ username, uid: '1', groups: ['system:masters'], extra }), {
        name: username,
        uid: '1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
        extra: where,
      })
    })

    it('"I am a user of the system": refused', async () => {
      for (const username of ['system:admin', 'system:serviceaccount:default', 'system:serviceaccount:a:b:c'])
        await assert.rejects(asserted({ username, groups: [] }), { name: 'TokenError' })
    })

    it('the shard with root asserts any user', async () => {
      answer = () => ({ status: { authenticated: true, user: { username: 'system:admin', groups: ['a'] } } })
      assert.deepEqual(await reader()('opaque', {}), { user: { name: 'system:admin', groups: ['a'] } })
    })
  })

  it('of other shards are reviewed while one shard does not answer', async () => {
    const read = reader()
    answer = () => new Promise(() => undefined)
    for (let i = 0; i < 500; i++)
      void Promise.resolve(read(`t${i}`, { cluster: 'abc', source: `s${i}` })).catch(() => undefined)
    await setImmediate()
    answer = () => ({ status: { authenticated: true, user: { username: 'ada', groups: [] } } })
    assert.equal((await read('opaque', { source: 'other' }))?.user.name, 'ada')
  })

  it('that are unknown are reviewed a few at a time for each source', async () => {
    const read = reader()
    answer = () => new Promise(() => undefined)
    await reviewsAFewOfEachSource(read, asked)
  })
})
