import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { bindIn, identity, resourceSchema, storageVersion, widgets } from '../testing/bindings.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const specOf = (properties: object) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
})
const size = { type: 'integer' }
const before = [storageVersion('v1', specOf({ size, colour: { type: 'string' } }))]
const after = [storageVersion('v1', specOf({ size, weight: { type: 'integer', default: 7 } }))]

describe('objects that were stored under another schema', () => {
  let shard: TestShard
  let older: KubeObject
  let newer: KubeObject
  const schema = (name: string, versions: readonly object[]) =>
    shard.client.create(
      resources.apiResourceSchemas,
      { cluster: 'provider', namespace: '', name },
      resourceSchema(name, versions),
    )
  const keyIn = (cluster: string, name = 'a') => ({ cluster, namespace: '', name })
  const create = (cluster: string, name = 'a', spec: object = { size: 1, colour: 'red' }) =>
    shard.client.create(widgets, keyIn(cluster, name), {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name },
      spec,
    })
  const read = (cluster: string, from: TestShard = shard) =>
    from.backend.storage(widgets).get(from.context(widgets, cluster), keyIn(cluster))
  const everywhere = { ...widgets, identity }
  const list = async () => {
    const found: Record<string, unknown> = {}
    const ctx = shard.context(everywhere, '*')
    for await (const batch of shard.backend.storage(everywhere).list(ctx, { cluster: '*' }))
      for (const { key, object } of batch) found[key.cluster] = object.spec
    return found
  }
  const watch = () => {
    const query = { cluster: '*', initialEvents: true, bookmarks: false }
    return shard.backend.storage(everywhere).watch(shard.context(everywhere, '*'), query)
  }

  beforeEach(async () => {
    shard = await testShard()
    older = await schema('v1.widgets.example.com', before)
    newer = await schema('v2.widgets.example.com', after)
    for (const cluster of ['c1', 'c2']) {
      await shard.addCluster(cluster)
      await bindIn(shard, cluster, older)
      await create(cluster)
    }
  })
  afterEach(() => shard.stop())

  it('are the cached items themselves while nothing has changed', async () => {
    const cached = shard.cache.resource('example.com', 'widgets', identity).get(keyIn('c1'))
    assert.equal(await read('c1'), cached)
    const ctx = shard.context(everywhere, '*')
    const { value } = await shard.backend.storage(everywhere).list(ctx, { cluster: '*' }).next()
    assert.ok(value && 'bytes' in value && value.bytes !== undefined)
  })

  it('have the shape of the schema of their own cluster, across all clusters too', async () => {
    await bindIn(shard, 'c2', newer)
    assert.deepEqual((await read('c1')).object.spec, { size: 1, colour: 'red' })
    assert.deepEqual((await read('c2')).object.spec, { size: 1, weight: 7 })
    assert.deepEqual(await list(), { c1: { size: 1, colour: 'red' }, c2: { size: 1, weight: 7 } })
  })

  it('are listed over all clusters page by page, without being gathered first', async () => {
    for (let i = 0; i < 300; i++) await create('c1', `b${i}`)
    await bindIn(shard, 'c2', newer)
    const ctx = shard.context(everywhere, '*')
    const reading = shard.backend.storage(everywhere).list(ctx, { cluster: '*' })
    const sizes: number[] = []
    let found = await reading.next()
    for (; !found.done; found = await reading.next()) sizes.push(found.value.length)
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      302,
    )
    assert.ok(sizes.length > 1 && Math.max(...sizes) <= 192, String(sizes))
  })

  it('are completed once, not again for each reader', async () => {
    await bindIn(shard, 'c2', newer)
    assert.equal(await read('c2'), await read('c2'))
  })

  it('change in a running watch when the schema changes, and watches share the bytes', async () => {
    const [one, two] = [watch(), watch()]
    for (const watcher of [one, two]) await watcher.next()
    const next = Promise.all([one.next(), two.next()])
    await bindIn(shard, 'c2', newer)
    await shard.client.update(widgets, keyIn('c2'), object => ({ ...object, spec: { size: 2 } }))
    const [seen, same] = await next
    assert.equal(seen.value, same.value)
    const [event] = seen.value ?? []
    assert.deepEqual(event?.previous?.object.spec, { size: 1, weight: 7 })
    await Promise.all([one.return(), two.return()])
  })

  it('have the same shape after a restart', async () => {
    await bindIn(shard, 'c2', newer)
    const again = await testShard({ store: shard.store })
    try {
      assert.deepEqual((await read('c1', again)).object.spec, { size: 1, colour: 'red' })
      assert.deepEqual((await read('c2', again)).object.spec, { size: 1, weight: 7 })
    } finally {
      await again.stop()
    }
  })

  it('are the base of updates', async () => {
    await bindIn(shard, 'c2', newer)
    await shard.client.update(widgets, keyIn('c2'), object => {
      assert.deepEqual(object.spec, { size: 1, weight: 7 })
      return { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } }
    })
    const stored = shard.cache.resource('example.com', 'widgets', identity).get(keyIn('c2'))
    assert.deepEqual(stored?.object.spec, { size: 1, weight: 7 })
    assert.equal(await read('c2'), stored)
  })

  it('stay readable when the schema has no word for them', async () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true }
    const strict = await schema('v3.widgets.example.com', [storageVersion('v1', specOf({ size: embedded }))])
    const loose = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const open = await schema('v0.widgets.example.com', [storageVersion('v1', specOf({ size: loose }))])
    await bindIn(shard, 'c1', open)
    const wrong = { size: { apiVersion: 'v1', kind: 'Pod', metadata: 'none' } }
    await shard.client.update(widgets, keyIn('c1'), object => ({ ...object, spec: wrong }))
    await bindIn(shard, 'c1', strict)
    assert.deepEqual((await read('c1')).object.spec, wrong)
    assert.deepEqual((await list()).c1, wrong)
  })
})
