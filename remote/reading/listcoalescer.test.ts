import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { ItemList, ListQuery, ResourceStorage } from '../../framework/contract/storage.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { loopback, type UserInfo, warrantKey } from '../../framework/request/user.ts'
import { labelEquals } from '../../framework/selectors/selectors.ts'
import { testContext } from '../../test/support/context.ts'
import { eventually } from '../../test/support/oriel.ts'
import { remoteStorage } from '../storage.ts'
import { ScriptedShard } from '../testing/scriptedshard.ts'
import { ListCoalescer } from './listcoalescer.ts'

const ref = { group: 'example.com', version: 'v1', resource: 'widgets', identity: 'abc' }
const anna: UserInfo = { name: 'anna', groups: ['a'] }

interface Asked extends Partial<ListQuery> {
  readonly user?: UserInfo
  readonly signal?: AbortSignal
}

/** Names and resourceVersion of a list. */
async function whole(list: ItemList): Promise<readonly string[]> {
  const names: string[] = []
  let next = await list.next()
  for (; !next.done; next = await list.next()) names.push(...[...next.value].map(({ key }) => key.name))
  return [...names, next.value.resourceVersion]
}

describe('equal concurrent lists', () => {
  let shard: ScriptedShard
  let coalescer: ListCoalescer
  let storage: ResourceStorage

  const share = (size?: ConstructorParameters<typeof ListCoalescer>[0]): void => {
    coalescer = new ListCoalescer(size)
    storage = remoteStorage(shard.connection, ref, { coalescer })
  }
  beforeEach(() => {
    shard = new ScriptedShard()
    shard.put('a')
    shard.holdLists()
    share()
  })

  const open = ({ user = loopback, signal, ...query }: Asked = {}): ItemList =>
    storage.list(testContext({ cluster: '*', user, ...(signal && { signal }) }), { cluster: '*', ...query })
  const list = (asked?: Asked): Promise<readonly string[]> => whole(open(asked))
  const asked = (count: number): Promise<unknown> =>
    eventually(
      async () => shard.targets.length,
      seen => seen === count,
    )
  /** Starts one list, so that the next ones are coalesced. */
  async function first(): Promise<Promise<readonly string[]>[]> {
    const alone = list()
    await asked(1)
    return [alone]
  }

  it('are one list at the shard, besides the first', async () => {
    const lists: Promise<readonly string[]>[] = []
    while (lists.length < 50) {
      lists.push(list())
      await undefined
    }
    await asked(2)
    shard.releaseLists()
    for (const names of await Promise.all(lists)) assert.deepEqual(names, ['a', '2'])
    assert.equal(shard.targets.length, 2)
  })

  it('never show an older state than that at the time of the request', async () => {
    const before = [list(), list()]
    await asked(2)
    shard.put('b')
    const after = [list(), list()]
    await turn()
    await turn()
    assert.equal(shard.targets.length, 2)
    shard.releaseLists()
    assert.deepEqual(await Promise.all(before), [
      ['a', '2'],
      ['a', '2'],
    ])
    for (const names of await Promise.all(after)) assert.deepEqual(names, ['a', 'b', '3'])
    assert.equal(shard.targets.length, 3)
  })

  it('are not shared with other users or other queries, nor after they ended', async () => {
    const different: readonly Asked[] = [
      {},
      { user: anna },
      { user: { ...anna, groups: ['a', 'b'] } },
      { user: { ...anna, extra: { [warrantKey]: ['{"user":"b"}'] } } },
      { cluster: 'one' },
      { namespace: 'one' },
      { limit: 1 },
      { resourceVersion: '1', match: 'NotOlderThan' },
      { labels: labelEquals('l', '1') },
    ]
    const lists = different.flatMap(each => [list(each), list(each), list(each)])
    await asked(different.length * 2)
    shard.releaseLists()
    await Promise.all(lists)
    assert.equal(shard.targets.length, different.length * 2)
    await list()
    assert.equal(shard.targets.length, different.length * 2 + 1)
  })

  it('with a limit are shared in their first page only', async () => {
    const lists = Array.from({ length: 5 }, () => list({ limit: 1, continue: 'token' }))
    await asked(5)
    shard.releaseLists()
    await Promise.all(lists)
  })

  it('share the shard’s refusal, but not with later lists', async () => {
    const lists = await first()
    shard.failure = new StatusError(403, 'Forbidden', 'no')
    const refused = [list(), list(), list()].map(each => assert.rejects(each, { code: 403 }))
    await asked(2)
    await Promise.all(refused)
    shard.failure = undefined
    shard.releaseLists()
    assert.deepEqual(await Promise.all([...lists, list()]), [
      ['a', '2'],
      ['a', '2'],
    ])
  })

  it('all fail when the shard is lost, and those that wait for the next list do not', async () => {
    const lists = [list(), list(), list()].map(each => assert.rejects(each, { code: 502 }))
    await asked(2)
    const next = list()
    shard.breakLists()
    await Promise.all(lists)
    await asked(3)
    shard.releaseLists()
    assert.deepEqual(await next, ['a', '2'])
  })

  it('of an unbound resource are empty for all', async () => {
    shard.isBound = false
    assert.deepEqual(await Promise.all([list(), list(), list()]), [['0'], ['0'], ['0']])
  })

  it('do not wait for a slow reader, and buffer what it has not read until it leaves', async () => {
    const lists = await first()
    const slow = open()
    const begun = slow.next()
    lists.push(list(), list())
    await asked(2)
    shard.releaseLists()
    await begun
    await Promise.all(lists)
    assert.ok(coalescer.bytes > 0)
    assert.deepEqual(await list(), ['a', '2'])
    await slow.return({ resourceVersion: '' })
    assert.equal(coalescer.bytes, 0)
  })

  it('end at the shard when all readers have left, and not before', async () => {
    const leaving = new AbortController()
    const staying = new AbortController()
    const gone = (signal: AbortSignal): Promise<void> => assert.rejects(list({ signal }))
    await first()
    const left = gone(leaving.signal)
    const stayed = gone(staying.signal)
    await asked(2)
    leaving.abort()
    await left
    assert.equal(shard.lists, 2)
    const next = list()
    staying.abort()
    await stayed
    await asked(3)
    assert.equal(shard.lists, 2)
    assert.equal(coalescer.bytes, 0)
    shard.releaseLists()
    assert.deepEqual(await next, ['a', '2'])
  })

  it('are not sent when all readers left before, and later readers get a new one', async () => {
    const lists = [...(await first()), list()]
    await asked(2)
    const leaving = new AbortController()
    const left = assert.rejects(list({ signal: leaving.signal }))
    leaving.abort()
    await left
    lists.push(list(), list())
    shard.releaseLists()
    for (const names of await Promise.all(lists)) assert.deepEqual(names, ['a', '2'])
    assert.equal(shard.targets.length, 3)
  })

  describe('larger than the memory budget', () => {
    const count = 2_000
    beforeEach(() => {
      for (let i = 0; i < count; i++) shard.put(`n${i}`)
    })
    for (const size of [
      { each: 1_000, all: 1_000_000 },
      { each: 1_000_000, all: 1_000 },
    ])
      it(`are sent once per reader, except the one that has begun: ${JSON.stringify(size)}`, async () => {
        share(size)
        const lists = [...(await first()), list(), list(), list()]
        await asked(2)
        shard.releaseLists()
        for (const names of await Promise.all(lists)) assert.equal(new Set(names).size, count + 2)
        assert.equal(shard.targets.length, 4)
        assert.equal(coalescer.bytes, 0)
      })

    it('end at the shard when the remaining reader leaves', async () => {
      share({ each: 1_000, all: 1_000 })
      await first()
      const slow = open()
      const begun = slow.next()
      await asked(2)
      shard.releaseLists()
      await begun
      await slow.return({ resourceVersion: '' })
      await eventually(
        async () => shard.lists,
        open => open === 0,
      )
    })
  })

  it('are also shared by the initial events of watches', async () => {
    const begin = { cluster: '*', initialEvents: true, bookmarks: true } as const
    const watches = Array.from({ length: 20 }, () => storage.watch(testContext({ cluster: '*' }), begin))
    const begun = watches.map(each => each.next())
    await asked(2)
    shard.releaseLists()
    for (const { value } of await Promise.all(begun)) assert.equal(value?.[0]?.item.key.name, 'a')
    for (const each of watches) void each.return()
  })
})
