import assert from 'node:assert/strict'
import { silent } from '../framework/contract/log.ts'
import { StatusError, serviceUnavailable } from '../framework/meta/errors.ts'
import { testContext } from '../test/support/context.ts'
import { Copies } from './copy/copies.ts'
import { remoteStorage } from './storage.ts'
import { ScriptedShard } from './testing/scriptedshard.ts'

const ref = { group: 'example.com', version: 'v1', resource: 'widgets', identity: 'abc' }

describe('watches of a shard', () => {
  let shard: ScriptedShard
  let stop: AbortController
  beforeEach(() => {
    shard = new ScriptedShard()
    stop = new AbortController()
  })
  afterEach(() => stop.abort())

  /** Starts a watch, and reports when it has begun. */
  function begin(from: 'shard' | 'copy' = 'shard') {
    const { signal } = stop
    const copies = new Copies({ isGood: () => true, log: silent, signal })
    const storage = remoteStorage(shard.connection, ref, from === 'copy' ? { copies } : {})
    const beginnings: Promise<string>[] = []
    const asking = (begun: Promise<void>): void => void beginnings.push(begun.then(() => 'begun'))
    const query = { cluster: '*', resourceVersion: '1', initialEvents: false, bookmarks: false, asking }
    const first = storage.watch(testContext({ cluster: '*', signal }), query).next()
    assert.equal(beginnings.length, 1)
    return { first, outcome: Promise.race([first.then(() => 'event'), ...beginnings]) }
  }

  for (const from of ['shard', 'copy'] as const)
    it(`begin when the shard accepts them: from the ${from}`, async () => {
      const { first, outcome } = begin(from)
      assert.equal(await outcome, 'begun')
      shard.put('a')
      assert.equal((await first).value?.[0]?.item.key.name, 'a')
    })

  it('do not begin when the shard refuses', async () => {
    shard.failure = new StatusError(403, 'Forbidden', 'no')
    await assert.rejects(begin().outcome, { code: 403 })
  })

  it('end when the shard has lost what the client has seen', async () => {
    const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
    shard.failure = new StatusError(504, 'Timeout', 'Too large resource version: 9, current: 1', { causes })
    await assert.rejects(begin().outcome, { code: 504 })
  })

  it('begin when the shard is unreachable or the resource is not bound, and wait', async () => {
    shard.failure = serviceUnavailable('away')
    assert.equal(await begin().outcome, 'begun')
    shard.failure = undefined
    shard.isBound = false
    assert.equal(await begin().outcome, 'begun')
  })
})
