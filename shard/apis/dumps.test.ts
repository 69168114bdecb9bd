import assert from 'node:assert/strict'
import type { RawResponse, ResourceRef } from '../../framework/contract/backend.ts'
import { contextWith } from '../../framework/contract/context.ts'
import type { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import {
  incomingAnnotation,
  leavingAnnotation,
  migratingAnnotation,
  movedAnnotation,
} from '../../kcp/annotations.ts'
import { dumpsPath, entriesAnnotation, type LogicalClusterDump } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { externalLogicalClusterAdmin } from '../../kcp/users.ts'
import { stopClocks } from '../../test/support/time/clocks.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { openMemoryStore } from '../store/memory.ts'
import { behindStore } from '../testing/behindstore.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const configMap = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})
const ours = { annotations: { [entriesAnnotation]: '1' } }

const annotate = (
  shard: TestShard,
  cluster: string,
  wanted: Readonly<Record<string, string>>,
): Promise<unknown> =>
  shard.client.update(
    resources.logicalClusters,
    { cluster, namespace: '', name: 'cluster' },
    ({ metadata, ...object }) => ({
      ...object,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...wanted } },
    }),
  )

describe('dumps of logical clusters', () => {
  let shard: TestShard
  before(async () => {
    shard = await testShard()
    for (const cluster of ['moving', 'movingtoo', 'staying']) {
      await shard.addCluster(cluster)
      for (const name of ['a', 'b', 'c'])
        await shard.content.add([{ cluster, resource: resources.configMaps, object: configMap(name) }])
    }
    for (const cluster of ['moving', 'movingtoo'])
      await annotate(shard, cluster, { [migratingAnnotation]: 'root:migration' })
  })
  after(() => shard.stop())

  async function ask(
    cluster: string,
    { groups = [externalLogicalClusterAdmin], metadata = ours, spec = {}, method = 'POST', of = shard } = {},
  ): Promise<LogicalClusterDump> {
    const ctx = contextWith(of.context(resources.configMaps, cluster), {
      cluster,
      user: { name: 'someone', groups },
      info: { isResource: false, verb: 'post', path: dumpsPath },
    })
    const bytes = Buffer.from(JSON.stringify({ metadata, spec }))
    const request = { method, query: new URLSearchParams(), headers: {}, body: async () => bytes }
    const response = await of.backend.forward(ctx, request)
    assert.equal(response.status, 201)
    return JSON.parse(await textOf(response)) as LogicalClusterDump
  }
  const refused = (code: number) => (error: StatusError) => error.code === code

  async function all(cluster: string, limits: object): Promise<readonly string[]> {
    const keys: string[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { status }: LogicalClusterDump = await ask(cluster, { spec: { ...limits, continue: next } })
      keys.push(...(status?.entries ?? []).map(({ key }) => key))
      next = status?.continue
    }
    return keys
  }

  it('have all entries of one logical cluster, in pages of any size', async () => {
    const keys = await all('moving', {})
    assert.equal(keys.length, 4)
    assert.ok(keys.every(key => key.startsWith('moving/')))
    assert.deepEqual(await all('moving', { limit: 1 }), keys)
    assert.deepEqual(await all('moving', { maxBytes: 1 }), keys)
    assert.deepEqual(await all('moving', { limit: -1, maxBytes: 'many' }), keys)
  })

  it('have no entry of another logical cluster, whatever token is sent', async () => {
    for (const token of ['movingtoo/', 'staying/core', '../staying', 'a', 'system:admin/'])
      for (const { key } of (await ask('moving', { spec: { continue: token } })).status?.entries ?? [])
        assert.ok(key.startsWith('moving/'), key)
  })

  it('are for other shards only, and for those that read the entries', async () => {
    await assert.rejects(ask('moving', { groups: ['system:authenticated'] }), refused(403))
    await assert.rejects(ask('moving', { groups: ['system:kcp:initializer:root:universal'] }), refused(403))
    const later = { annotations: { [entriesAnnotation]: '2' } }
    await assert.rejects(ask('moving', { metadata: later }), refused(400))
    await assert.rejects(ask('moving', { method: 'GET' }), refused(404))
  })

  it('are of logical clusters that move only', async () => {
    await assert.rejects(ask('staying'), refused(404))
    await assert.rejects(ask('*'), refused(404))
  })

  it('have the revision before the entries are read: a later write is not among them', async () => {
    const inner = openMemoryStore()
    const store = behindStore(inner)
    const writing = await testShard({ store })
    await writing.addCluster('moving')
    await annotate(writing, 'moving', { [migratingAnnotation]: 'root:migration' })
    let written = 0
    store.range = async function* (...asked) {
      yield* inner.range(...asked)
      written = await inner.commit([{ key: '/other', value: Buffer.from('x') }])
    }
    const { metadata } = await ask('moving', { of: writing })
    assert.ok(
      Number(metadata?.resourceVersion) < written,
      `${metadata?.resourceVersion} is not before ${written}`,
    )
    await writing.stop()
    await inner.close()
  })

  it('are of all objects: there is none while they are being removed', async () => {
    const cluster = 'leaving'
    await shard.addCluster(cluster)
    await annotate(shard, cluster, { [migratingAnnotation]: 'root:m', [leavingAnnotation]: 'beta' })
    await assert.rejects(ask(cluster), refused(404))
  })
})

async function textOf({ body }: RawResponse): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('a logical cluster that moves', () => {
  it('accepts no write, not even of controllers', async () => {
    const shard = await testShard()
    await shard.addCluster('moving')
    await annotate(shard, 'moving', { [migratingAnnotation]: 'root:m' })
    await assert.rejects(annotate(shard, 'moving', { written: 'late' }), /being migrated/)
    const object = configMap('later')
    await assert.rejects(
      shard.content.add([{ cluster: 'moving', resource: resources.configMaps, object }]),
      /being migrated/,
    )
    await shard.stop()
  })

  it('refuses all requests but those of other shards', async () => {
    const shard = await testShard()
    await shard.addCluster('moving')
    const refusal = (query: string, groups: readonly string[] = []): number | undefined => {
      const { info } = shard.context(resources.configMaps, 'moving')
      const request = { info: { ...info, verb: 'list' } as typeof info, user: { name: 'alice', groups } }
      return shard.backend.refusal?.('moving', request, new URLSearchParams(query))?.code
    }
    assert.equal(refusal('resourceVersion=5'), undefined)
    await annotate(shard, 'moving', { [migratingAnnotation]: 'root:m' })
    assert.equal(refusal(''), 503)
    assert.equal(refusal('resourceVersion=0'), 503)
    assert.equal(refusal('resourceVersion=5'), 410)
    assert.equal(refusal('resourceVersion=5', [externalLogicalClusterAdmin]), undefined)
    await shard.stop()
  })

  it('shows its LogicalCluster to administrators, as which other shards ask how far the move is', async () => {
    const shard = await testShard()
    await shard.addCluster('moving')
    const refusal = (verb: 'get' | 'patch', resource: ResourceRef, group: string): number | undefined => {
      const { info } = shard.context(resource, 'moving')
      const request = { info: { ...info, verb } as typeof info, user: { name: 'a', groups: [group] } }
      return shard.backend.refusal?.('moving', request, new URLSearchParams())?.code
    }
    await annotate(shard, 'moving', { [migratingAnnotation]: 'root:m' })
    assert.equal(refusal('get', resources.logicalClusters, 'system:masters'), undefined)
    assert.equal(refusal('get', resources.logicalClusters, 'system:kcp:admin'), 503)
    assert.equal(refusal('patch', resources.logicalClusters, 'system:masters'), 503)
    assert.equal(refusal('get', resources.configMaps, 'system:masters'), 503)
    await shard.stop()
  })

  it('is refused to all users while its objects arrive or leave, and shortly after it has left', async () => {
    const shard = await testShard()
    await shard.addCluster('moving')
    const refusal = (query: string, groups: readonly string[] = []): number | undefined => {
      const { info } = shard.context(resources.configMaps, 'moving')
      const request = { info: { ...info, verb: 'list' } as typeof info, user: { name: 'alice', groups } }
      return shard.backend.refusalToAll?.('moving', request, new URLSearchParams(query))?.code
    }
    const key = storageKey(
      { group: 'core.kcp.io', resource: 'logicalclusters', segment: 'customresources' },
      { cluster: 'moving', namespace: '', name: 'cluster' },
    )
    const put = (annotations: Readonly<Record<string, string>>): Promise<unknown> => {
      const metadata = { name: 'cluster', annotations }
      const value = encodeStored({ apiVersion: 'core.kcp.io/v1alpha1', kind: 'LogicalCluster', metadata })
      return shard.content.transfer([{ key, value }])
    }
    const all = () => [refusal(''), refusal('resourceVersion=5'), refusal('', [externalLogicalClusterAdmin])]
    const closed = { [migratingAnnotation]: 'root:m' }
    await put(closed)
    assert.deepEqual(all(), [undefined, undefined, undefined])
    await put({ ...closed, [incomingAnnotation]: 'beta,7' })
    assert.deepEqual(all(), [503, 410, undefined])
    await put({ [movedAnnotation]: '8,7,1' })
    assert.deepEqual(all(), [undefined, undefined, undefined])
    await put({ ...closed, [leavingAnnotation]: 'beta' })
    assert.deepEqual(all(), [503, 410, undefined])
    await shard.content.transfer([{ key, value: undefined }])
    assert.deepEqual(all(), [503, 410, 503], 'front proxies and other shards may not know it yet')
    const clocks = stopClocks()
    clocks.pass(60_000)
    assert.deepEqual(all(), [503, 410, undefined], 'the watch of a front proxy may hang')
    clocks.pass(600_000)
    assert.deepEqual(all(), [undefined, undefined, undefined])
    clocks.restore()
    await put({ [movedAnnotation]: '20,19,3' })
    assert.deepEqual(all(), [undefined, undefined, undefined], 'it is back')
    await shard.stop()
  })

  it('refuses the resourceVersions of the shard before when it has moved', async () => {
    const shard = await testShard()
    await shard.addCluster('moved')
    const here = shard.cache.revision
    await annotate(shard, 'moved', { [movedAnnotation]: `${here},9000` })
    const { info } = shard.context(resources.configMaps, 'moved')
    const request = { info: { ...info, verb: 'watch' } as typeof info, user: { name: 'alice', groups: [] } }
    const refusal = (query: string): number | undefined =>
      shard.backend.refusal?.('moved', request, new URLSearchParams(query))?.code
    assert.equal(refusal('resourceVersion=0'), undefined)
    assert.equal(refusal(`resourceVersion=${here}`), 410)
    assert.equal(refusal(`resourceVersion=${here + 1}`), undefined)
    assert.equal(refusal('resourceVersion=8999'), 410)
    assert.equal(refusal('resourceVersion=9001'), undefined)
    await shard.stop()
  })
})
