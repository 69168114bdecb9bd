import assert from 'node:assert/strict'
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
      assert.deepEqual(await read(token(claims), { cluster: 'root' }), {
        user: { name: 'sa', groups: ['a'], uid: '1' },
      })
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

  it('that are unknown are reviewed a few at a time for each source', async () => {
    const read = reader()
    answer = () => new Promise(() => undefined)
    await reviewsAFewOfEachSource(read, asked)
  })
})
