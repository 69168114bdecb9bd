import assert from 'node:assert/strict'
import type { RawResponse } from '../../framework/contract/backend.ts'
import { contextWith } from '../../framework/contract/context.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import {
  dumpAnnotation,
  dumpStates,
  incomingAnnotation,
  migratingAnnotation,
  movedAnnotation,
} from '../../kcp/annotations.ts'
import { type DumpEntry, dumpsPath, type LogicalClusterDump } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { externalLogicalClusterAdmin } from '../../kcp/users.ts'
import { decodeStored, encodeStored } from '../cache/codec.ts'
import { claimsDecorator } from '../claims/index.ts'
import { entryFromKcp } from '../entries/fromkcp.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

const cluster = 'moving'
const place = '/registry/moving/core.kcp.io/logicalclusters/customresources//cluster'
const configMap = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...more },
  data: { of: name },
})
const binding: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'widgets', labels: { 'internal.apis.kcp.io/export': 'abc' } },
  spec: { reference: { export: { name: 'widgets' } } },
}

describe('dumps of logical clusters for shards of kcp', () => {
  let shard: TestShard
  beforeEach(async () => {
    shard = await testShard({ decorate: claimsDecorator })
    await shard.addCluster(cluster)
    for (const name of ['a', 'b'])
      await shard.content.add([{ cluster, resource: resources.configMaps, object: configMap(name) }])
    await shard.content.add([{ cluster, resource: resources.apiBindings, object: binding }])
    await annotate({ [migratingAnnotation]: 'root:move', [dumpAnnotation]: dumpStates.awaited })
  })
  afterEach(() => shard.stop())

  async function home(): Promise<KubeObject> {
    const value = await shard.store.get(place)
    assert.ok(value)
    return decodeObject(decodeStored(value.value).bytes)
  }
  async function annotate(annotations: Readonly<Record<string, string>>): Promise<void> {
    const { metadata, ...object } = await home()
    const next = {
      ...object,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    }
    await shard.content.transfer([{ key: place, value: encodeStored(next as KubeObject) }])
  }

  /** As a shard of kcp asks. */
  async function ask(after = '', limit = 0): Promise<NonNullable<LogicalClusterDump['status']>> {
    const ctx = contextWith(shard.context(resources.configMaps, cluster), {
      cluster,
      user: { name: 'beta', groups: [externalLogicalClusterAdmin] },
      info: { isResource: false, verb: 'post', path: dumpsPath },
    })
    const bytes = Buffer.from(JSON.stringify({ metadata: {}, spec: { continue: after, limit } }))
    const request = { method: 'POST', query: new URLSearchParams(), headers: {}, body: async () => bytes }
    const { status } = JSON.parse(
      await textOf(await shard.backend.forward(ctx, request)),
    ) as LogicalClusterDump
    return status ?? {}
  }
  const stateOf = async (): Promise<string | undefined> =>
    (await home()).metadata.annotations?.[dumpAnnotation]

  it('have the keys of kcp and JSON without a resourceVersion, with the labels of reads', async () => {
    const { entries = [] } = await ask()
    const objects = new Map(entries.map(({ key, value }) => [key, objectIn(value)]))
    assert.deepEqual(
      [...objects.keys()],
      [
        'apis.kcp.io/apibindings/customresources/moving/widgets',
        'core.kcp.io/logicalclusters/customresources/moving/cluster',
        'core/configmaps/moving/default/a',
        'core/configmaps/moving/default/b',
      ],
    )
    const { metadata, ...map } = objects.get('core/configmaps/moving/default/a') ?? configMap('')
    assert.deepEqual(map, { apiVersion: 'v1', kind: 'ConfigMap', data: { of: 'a' } })
    assert.deepEqual(
      [metadata.name, metadata.namespace, metadata.resourceVersion],
      ['a', 'default', undefined],
    )
    const bound = objects.get('apis.kcp.io/apibindings/customresources/moving/widgets')
    assert.ok(bound?.metadata.labels?.['claimed.internal.apis.kcp.io/abc'])
  })

  it('are read back by a shard of Oriel as they were', async () => {
    const { entries = [] } = await ask()
    for (const entry of entries.filter(({ key }) => !key.startsWith('core.kcp.io/'))) {
      const { key, value } = entryFromKcp(cluster, entry)
      const stored = await shard.store.get(`/registry/${key}`)
      assert.ok(stored, key)
      assert.deepEqual(
        decodeObject(decodeStored(value).bytes),
        decodeObject(decodeStored(stored.value).bytes),
      )
    }
  })

  it('come in pages, each object once', async () => {
    const keys: string[] = []
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { entries = [], continue: token }: NonNullable<LogicalClusterDump['status']> = await ask(next, 1)
      keys.push(...entries.map(({ key }) => key))
      next = token
    }
    assert.equal(keys.length, 4)
    assert.equal(new Set(keys).size, 4)
  })

  it('say that the logical cluster moves and how often it has moved, and nothing that only Oriel understands', async () => {
    await annotate({ [movedAnnotation]: '5,6,2' })
    const entry = (await ask()).entries?.find(({ key }) => key.endsWith('/cluster'))
    const { annotations = {} } = objectIn(entry?.value ?? '').metadata
    assert.equal(annotations[migratingAnnotation], 'root:move')
    assert.equal(annotations[movedAnnotation], '5,6,2')
    assert.equal(annotations[dumpAnnotation], undefined)
    assert.equal(annotations[incomingAnnotation], undefined)
  })

  it('have no copies of objects of other shards', async () => {
    const copy = configMap('c', { annotations: { 'kcp.io/shard': 'gamma' } })
    const key = '/registry/moving/core/configmaps/-/default/c'
    await shard.content.transfer([{ key, value: encodeStored(copy) }])
    const { entries = [] } = await ask()
    assert.ok(entries.every(entry => !entry.key.endsWith('/c')))
  })

  it('are noted before the first entry is sent: the shard does not remove what it has', async () => {
    assert.equal(await stateOf(), dumpStates.awaited)
    await ask('', 1)
    assert.equal(await stateOf(), dumpStates.begun)
    const before = (await shard.store.get(place))?.modified
    await ask('', 1)
    assert.equal((await shard.store.get(place))?.modified, before, 'once')
  })

  it('are noted before the last entry is sent: the objects are not removed before', async () => {
    await ask('', 1)
    const begun = (await shard.store.get(place))?.modified
    for (const _ of ['once', 'again']) {
      await ask()
      assert.equal(await stateOf(), `${dumpStates.sent},${begun}`)
    }
  })

  const refused = (message: RegExp) => (error: unknown) => {
    assert.ok(error instanceof StatusError)
    assert.equal(error.code, 400)
    assert.match(error.message, message)
    return true
  }

  it('are for shards of kcp to which the logical cluster moves, and not after the migration has ended', async () => {
    await annotate({ [dumpAnnotation]: dumpStates.refused })
    await assert.rejects(ask(), refused(/does not move to a shard of kcp/))
    assert.equal(await stateOf(), dumpStates.refused)
    const { metadata, ...object } = await home()
    const { [dumpAnnotation]: _, ...annotations } = metadata.annotations ?? {}
    const unknown = { ...object, metadata: { ...metadata, annotations } } as KubeObject
    await shard.content.transfer([{ key: place, value: encodeStored(unknown) }])
    await assert.rejects(ask(), refused(/does not move to a shard of kcp/))
  })

  it('refuse objects that a shard of kcp cannot have, by their keys', async () => {
    const view = { apiVersion: 'views.oriel.dev/v1alpha1', kind: 'View', metadata: { name: 'v' } }
    const key = '/registry/moving/views.oriel.dev/views/customresources//v'
    await shard.content.transfer([{ key, value: encodeStored(view) }])
    await assert.rejects(ask(), refused(/views\.oriel\.dev\/views\/customresources\/moving\/v/))
  })
})

const objectIn = (value: DumpEntry['value']): KubeObject =>
  JSON.parse(Buffer.from(value, 'base64').toString()) as KubeObject

async function textOf({ body }: RawResponse): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
