import assert from 'node:assert/strict'
import { createTinyShard, type TinyShard, widget } from '../../test/support/tinyshard.ts'
import type { Backend } from '../contract/backend.ts'
import type { Item } from '../contract/item.ts'
import { silent } from '../contract/log.ts'
import { loopbackContext } from '../contract/loopback.ts'
import type { MemberProblem } from '../contract/viewfailure.ts'
import type { Host } from '../contract/workspace.ts'
import { createInformers } from '../informers/informers.ts'
import { originalStorage } from '../lens/privatestorage.ts'
import { privateHost } from './privatehost.ts'

const ref = { group: 'example.com', version: 'v1', resource: 'widgets' }
const key = { cluster: 'team', namespace: 'default', name: 'a' }
const write = { dryRun: false, fieldManager: 'test' }

type Writable = Record<string, unknown>
function spoil({ object, meta }: Item): void {
  Object.assign(object.metadata as Writable, { name: 'spoiled' })
  Object.assign(object as Writable, { spec: 'spoiled' })
  Object.assign(meta.labels as Writable, { app: 'spoiled' })
}

describe('the host of a plugin', () => {
  let stop: AbortController
  let shard: TinyShard
  let given: Host
  let host: Host
  let problems: MemberProblem[]
  const ctx = () =>
    loopbackContext({ verb: 'get', resource: ref, cluster: 'team', signal: stop.signal, log: silent })
  const text = async (): Promise<string> => {
    const item = await shard.storage(ref).get(ctx(), key)
    return JSON.stringify([item.object, item.meta.labels, item.key])
  }

  beforeEach(async () => {
    stop = new AbortController()
    shard = createTinyShard()
    problems = []
    await shard.storage(ref).create(ctx(), key, widget('default', 'a', { labels: { app: 'x' } }), write)
    given = { backend: shard, informers: createInformers(shard, silent, stop.signal), log: silent }
    host = privateHost(given, { failed: problem => problems.push(problem), took: () => undefined })
    await host.informers.for(ref).synced
  })
  afterEach(() => stop.abort())

  const readers: Readonly<Record<string, (backend: Backend) => Promise<unknown>>> = {
    get: async backend => spoil(await backend.storage(ref).get(ctx(), key)),
    'get of apis': async backend => {
      const item = await backend.apis('team')?.find('example.com', 'v1', 'widgets')?.storage.get(ctx(), key)
      if (item !== undefined) spoil(item)
    },
    list: async backend => {
      const { value } = await backend.storage(ref).list(ctx(), { cluster: 'team' }).next()
      for (const item of value as readonly Item[]) spoil(item)
    },
    watch: async backend => {
      const query = { cluster: 'team', resourceVersion: '1', initialEvents: false, bookmarks: false }
      const { value } = await backend.storage(ref).watch(ctx(), query).next()
      for (const { item } of value ?? []) spoil(item)
    },
    delete: async backend => {
      const refuse = (item: Item): never => {
        spoil(item)
        throw new Error('kept')
      }
      await assert.rejects(backend.storage(ref).delete(ctx(), key, refuse, { dryRun: false }), /kept/)
    },
    update: async backend => {
      const refuse = (item: Item): never => {
        spoil(item)
        throw new Error('kept')
      }
      await assert.rejects(backend.storage(ref).update(ctx(), key, refuse, write), /kept/)
    },
  }
  for (const [name, read] of Object.entries(readers))
    it(`gives copies, whose changes have no effect: ${name}`, async () => {
      const before = await text()
      await read(host.backend)
      assert.equal(await text(), before)
    })

  it('gives copies, whose changes have no effect: informers', async () => {
    const before = await text()
    const informer = host.informers.for(ref)
    let handled = 0
    informer.onEvent(({ item }) => {
      handled++
      spoil(item)
    })
    for (const item of informer.list()) spoil(item)
    const index = (item: Item): readonly string[] => {
      spoil(item)
      return ['all']
    }
    for (const item of informer.index(index)('all')) spoil(item)
    const item = informer.get('team', 'default', 'a')
    assert.ok(item !== undefined)
    spoil(item)
    assert.equal(handled, 1)
    assert.equal(await text(), before)
    assert.equal(given.informers.for(ref).get('team', 'default', 'a')?.object.spec, undefined)
  })

  it('keeps the informers of other views from failing', async () => {
    const informer = host.informers.for(ref)
    const fail = (): never => {
      throw new Error('out of order')
    }
    assert.deepEqual(informer.index(fail)('all'), [])
    informer.onEvent(fail)
    informer.onEvent(async () => fail())
    const seen: string[] = []
    given.informers.for(ref).onEvent(({ item }) => seen.push(item.key.name))
    const next = new Promise<void>(resolve =>
      given.informers.for(ref).onEvent(({ item }) => item.key.name === 'b' && resolve()),
    )
    await shard.storage(ref).create(ctx(), { ...key, name: 'b' }, widget('default', 'b'), write)
    await next
    assert.deepEqual(seen, ['a', 'b'])
    const members = new Set(problems.map(({ member }) => member))
    assert.deepEqual([...members].sort(), ['the handler of an informer', 'the index of an informer'])
  })

  it('gives the same informer, storage and resources each time', () => {
    const { backend, informers } = host
    assert.equal(informers.for(ref), informers.for(ref))
    assert.equal(backend.storage(ref), backend.storage(ref))
    assert.equal(backend.apis('team'), backend.apis('team'))
    assert.equal(
      backend.apis('team')?.resources[0],
      backend.apis('team')?.find('example.com', 'v1', 'widgets'),
    )
    assert.equal(backend.apis('none'), undefined)
    assert.equal(
      originalStorage(backend.storage(ref)),
      shard.storage(ref),
      'the framework passes the bytes on',
    )
  })
})
