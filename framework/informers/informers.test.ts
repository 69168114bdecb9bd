import assert from 'node:assert/strict'
import { createTinyShard, type TinyShard, widget } from '../../test/support/tinyshard.ts'
import type { Informer } from '../contract/informer.ts'
import type { ItemEvent } from '../contract/item.ts'
import { silent } from '../contract/log.ts'
import { loopbackContext } from '../contract/loopback.ts'
import { StatusError } from '../meta/errors.ts'
import { createInformers } from './informers.ts'

const resource = { group: 'example.com', version: 'v1', resource: 'widgets' }
const options = { dryRun: false, fieldManager: 'test' }

describe('informers', () => {
  let shard: TinyShard
  let stop: AbortController
  let informer: Informer
  let told: string[]

  const ctx = (cluster: string) =>
    loopbackContext({ verb: 'create', resource, cluster, signal: stop.signal, log: silent })
  const key = (cluster: string, name: string) => ({ cluster, namespace: 'ns', name })
  const create = (cluster: string, name: string, color = 'red') =>
    shard
      .storage(resource)
      .create(ctx(cluster), key(cluster, name), widget('ns', name, { labels: { color } }), options)
  const paint = (cluster: string, name: string, color: string) =>
    shard
      .storage(resource)
      .update(ctx(cluster), key(cluster, name), () => widget('ns', name, { labels: { color } }), options)
  const remove = (cluster: string, name: string) =>
    shard.storage(resource).delete(ctx(cluster), key(cluster, name), () => undefined, { dryRun: false })
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise(setImmediate)
  }
  const note = ({ type, item, previous }: ItemEvent) => {
    told.push(`${type} ${item.key.cluster}/${item.key.name} ${previous?.meta.labels.color ?? '-'}`)
  }

  beforeEach(async () => {
    stop = new AbortController()
    shard = createTinyShard()
    told = []
    await create('root', 'old')
    informer = createInformers(shard, silent, stop.signal).for(resource)
    await informer.synced
  })
  afterEach(() => stop.abort())

  it('are one for each resource', () => {
    const informers = createInformers(shard, silent, stop.signal)
    assert.equal(informers.for(resource), informers.for({ ...resource }))
    assert.notEqual(informers.for(resource), informers.for({ ...resource, identity: 'abc' }))
  })

  it('keep a copy, and report each change with the previous object', async () => {
    informer.onEvent(note)
    await until(() => shard.watchers === 1)
    await create('team', 'new')
    await paint('team', 'new', 'blue')
    await remove('root', 'old')
    await until(() => told.length === 4)
    assert.deepEqual(told, [
      'ADDED root/old -',
      'ADDED team/new -',
      'MODIFIED team/new red',
      'DELETED root/old red',
    ])
    assert.deepEqual(
      informer.list().map(item => item.key.name),
      ['new'],
    )
    assert.equal(informer.list('root').length, 0)
    assert.equal(informer.get('team', 'ns', 'new')?.meta.labels.color, 'blue')
  })

  it('keep indexes, also those that are added later', async () => {
    const colors = (item: ItemEvent['item']) => [item.meta.labels.color ?? '']
    const byColor = informer.index(colors)
    assert.equal(byColor('red').length, 1)
    await until(() => shard.watchers === 1)
    await paint('root', 'old', 'blue')
    await until(() => byColor('blue').length === 1)
    assert.equal(byColor('red').length, 0)
    assert.equal(informer.index(colors)('blue').length, 1)
  })

  it('go on watching after a watch that ended, without listing again', async () => {
    await until(() => shard.watchers === 1)
    shard.breakWatches()
    await until(() => shard.watchers === 0)
    await until(() => shard.watchers === 1)
    assert.equal(shard.lists, 1)
    await create('root', 'new')
    await until(() => informer.list().length === 2)
  })

  it('go on watching after an error', async () => {
    await until(() => shard.watchers === 1)
    shard.breakWatches(new Error('the line is cut'))
    await until(() => shard.watchers === 0)
    await until(() => shard.watchers === 1)
    assert.equal(shard.lists, 1)
  })

  it('list again when their resourceVersion expired, and report missed changes', async () => {
    informer.onEvent(note)
    await until(() => shard.watchers === 1)
    shard.breakWatches()
    await until(() => shard.watchers === 0)
    shard.compacted = 100
    await create('root', 'new')
    await remove('root', 'old')
    await until(() => told.length === 3)
    assert.deepEqual(told.sort(), ['ADDED root/new -', 'ADDED root/old -', 'DELETED root/old red'])
    assert.ok(shard.lists > 1)
  })

  it('list again when the server has lost what they have seen', async () => {
    await until(() => shard.watchers === 1)
    await remove('root', 'old')
    await until(() => informer.list().length === 0)
    const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
    shard.breakWatches(
      new StatusError(504, 'Timeout', 'Too large resource version: 9, current: 1', { causes }),
    )
    await until(() => shard.lists === 2)
  })

  it('list again after a watch without any event: a server that was emptied sends none until it has as many revisions', async () => {
    await until(() => shard.watchers === 1)
    shard.breakWatches(new StatusError(504, 'Timeout', 'the server has not answered in time'))
    await until(() => shard.lists === 2)
  })

  it('do not suffer from a handler that throws', async () => {
    informer.onEvent(() => {
      throw new Error('bad handler')
    })
    const stopNotes = informer.onEvent(note)
    await until(() => shard.watchers === 1)
    await create('root', 'new')
    await until(() => told.length === 2)
    stopNotes()
    await create('root', 'newer')
    await until(() => informer.list().length === 3)
    assert.equal(told.length, 2)
  })

  it('end with their signal', async () => {
    await until(() => shard.watchers === 1)
    stop.abort()
    await until(() => shard.watchers === 0)
  })
})
