import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import {
  bindIn,
  identity,
  resourceSchema,
  servedVersion,
  storageVersion,
  widgets,
} from '../testing/bindings.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const specOf = (...names: readonly string[]) => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])),
    },
  },
})
const v1 = specOf('name', 'old')
const v2 = specOf('name', 'new')
const inV2 = { ...widgets, version: 'v2' }
const everywhere = { ...inV2, identity }
const key = { cluster: 'c1', namespace: '', name: 'a' }

describe('objects of a version that was removed from the stored versions before they were migrated', () => {
  let shard: TestShard
  const schema = (name: string, versions: readonly object[]): Promise<KubeObject> =>
    shard.client.create(
      resources.apiResourceSchemas,
      { cluster: 'provider', namespace: '', name: `${name}.widgets.example.com` },
      resourceSchema(`${name}.widgets.example.com`, versions),
    )
  const list = async (ref: typeof inV2, cluster: string) => {
    const found: KubeObject[] = []
    const ctx = shard.context(ref, cluster)
    for await (const batch of shard.backend.storage(ref).list(ctx, { cluster }))
      for (const { object } of batch) found.push(object)
    return found.map(({ apiVersion, spec }) => ({ apiVersion, spec }))
  }
  const get = async (): Promise<KubeObject> =>
    (await shard.backend.storage(inV2).get(shard.context(inV2, 'c1'), key)).object
  const shown = { apiVersion: 'example.com/v2', spec: { name: 'x' } }

  beforeEach(async () => {
    shard = await testShard()
    await shard.addCluster('c1')
    await bindIn(shard, 'c1', await schema('s1', [storageVersion('v1', v1), servedVersion('v2', v2)]))
    await shard.client.create(widgets, key, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      spec: { name: 'x', old: 'y' },
    })
  })
  afterEach(() => shard.stop())

  const trim = async (versions: readonly object[]) =>
    bindIn(shard, 'c1', await schema('s2', versions), { storageVersions: ['v2'] })
  const stored = () => shard.cache.resource('example.com', 'widgets', identity).get(key)?.object

  it('are converted for readers', async () => {
    await trim([servedVersion('v1', v1), storageVersion('v2', v2)])
    const { apiVersion, spec } = await get()
    assert.deepEqual({ apiVersion, spec }, shown)
    assert.deepEqual(await list(inV2, 'c1'), [shown])
    assert.deepEqual(await list(everywhere, '*'), [shown])
    const query = { cluster: 'c1', initialEvents: true, bookmarks: false }
    const watch = shard.backend.storage(inV2).watch(shard.context(inV2, 'c1'), query)
    const [event] = (await watch.next()).value ?? []
    assert.equal(event?.item.object.apiVersion, 'example.com/v2')
    await watch.return()
  })

  it('are stored in the storage version by a write that changes nothing', async () => {
    await trim([servedVersion('v1', v1), storageVersion('v2', v2)])
    await shard.client.update(inV2, key, object => object)
    assert.equal(stored()?.apiVersion, 'example.com/v2')
    assert.equal((await get()).apiVersion, 'example.com/v2')
  })

  it('are neither read nor written when the schema has their version no longer', async () => {
    await trim([storageVersion('v2', v2)])
    const refused = {
      code: 500,
      message: /request to convert CR from an invalid group\/version: example.com\/v1/,
    }
    await assert.rejects(get(), refused)
    await assert.rejects(list(inV2, 'c1'), refused)
    await assert.rejects(
      shard.client.update(inV2, key, object => object),
      refused,
    )
    assert.deepEqual(stored()?.spec, { name: 'x', old: 'y' })
  })
})
