import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { Action } from '../framework/contract/authorizer.ts'
import { reviewAuthorizer } from './authorizer.ts'
import type { ShardConnection } from './connection/connection.ts'

const ada = { name: 'ada', groups: [] }

const action = (cluster: string): Action => ({
  verb: 'get',
  cluster,
  resource: {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    namespace: 'default',
    name: 'a',
  },
})

describe('decisions that are cached', () => {
  let asked = 0
  const ask = async () => {
    asked++
    return { status: 201, headers: {}, body: Readable.from([Buffer.from('{"status":{"allowed":true}}')]) }
  }
  const connection = { ask } as unknown as ShardConnection
  beforeEach(() => {
    asked = 0
  })

  const reviews = async (
    authorizer: ReturnType<typeof reviewAuthorizer>,
    cluster: string,
  ): Promise<number> => {
    const before = asked
    assert.equal(
      (await authorizer.authorize(ada, action(cluster), AbortSignal.timeout(10_000))).effect,
      'allow',
    )
    return asked - before
  }

  it('are asked again after those of their logical cluster, or of all, were forgotten', async () => {
    const authorizer = reviewAuthorizer(() => connection)
    assert.deepEqual([await reviews(authorizer, 'c1'), await reviews(authorizer, 'c1')], [1, 0])
    authorizer.forget?.('c2')
    assert.equal(await reviews(authorizer, 'c1'), 0)
    authorizer.forget?.('c1')
    assert.equal(await reviews(authorizer, 'c1'), 1)
    authorizer.forget?.('*')
    assert.equal(await reviews(authorizer, 'c1'), 1)
  })

  it('are never used after many logical clusters were forgotten', async () => {
    const authorizer = reviewAuthorizer(() => connection)
    await reviews(authorizer, 'c0')
    for (let i = 0; i < 10_005; i++) authorizer.forget?.(`c${i}`)
    assert.equal(await reviews(authorizer, 'c0'), 1)
    assert.equal(await reviews(authorizer, 'c0'), 0)
  })
})
