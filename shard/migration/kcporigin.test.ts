import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { notFound, serviceUnavailable } from '../../framework/meta/errors.ts'
import type { KubeObject, Metadata } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { incomingAnnotation, migratingAnnotation, migrationFinalizer } from '../../kcp/annotations.ts'
import { findCondition } from '../../kcp/conditions.ts'
import type { DumpEntry, LogicalClusterDump, MigrationStatus } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { decodeStored } from '../cache/codec.ts'
import { jsonEntry, protobufEntry } from '../entries/testing/kcpentry.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { copyPage, finalize } from './destination.ts'
import type { MigrationChange } from './home.ts'
import type { MigrationStep } from './step.ts'
import { stepOf } from './testing/step.ts'

const cluster = 'moving'
const uid = '9eb774fe-f827-4eeb-b318-e95e356ee881'
const identity = 'a'.repeat(64)
const home: KubeObject = {
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster', annotations: { [migratingAnnotation]: 'root:move' } },
  spec: {},
}
const configMap: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
  data: { x: 'y' },
}
const schema = { name: 'today.cowboys.wildwest.dev', UID: uid, identityHash: identity }
const binding: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'cowboys' },
  status: { boundResources: [{ group: 'wildwest.dev', resource: 'cowboys', schema }] },
}
const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: uid, resourceVersion: '5' },
  spec: { group: 'wildwest.dev' },
}
const homeEntry = jsonEntry('core.kcp.io/logicalclusters/customresources/moving/cluster', home)
const mapEntry = protobufEntry('core/configmaps/moving/default/a', configMap)
const bindingEntry = jsonEntry('apis.kcp.io/apibindings/customresources/moving/cowboys', binding)

interface Asked {
  readonly bodies: LogicalClusterDump[]
  readonly paths: string[]
}

/** A shard of kcp that has these pages and definitions, at revision 77. */
function kcpShard(
  pages: Readonly<Record<string, NonNullable<LogicalClusterDump['status']>>>,
  definitions: readonly KubeObject[] = [definition],
): Partial<PeerClient> & Asked {
  const asked: Asked = { bodies: [], paths: [] }
  return {
    ...asked,
    async post<T>(_: string, body: object) {
      const { metadata, spec, ...dump } = body as LogicalClusterDump
      asked.bodies.push(body as LogicalClusterDump)
      return { ...dump, metadata, spec, status: pages[spec?.continue ?? ''] } as T
    },
    async get<T>(path: string) {
      asked.paths.push(path)
      if (path.startsWith('/clusters/*/')) return { metadata: { resourceVersion: '77' } } as T
      const found = definitions.find(({ metadata }) => path.endsWith(`/${metadata.name}`))
      if (found === undefined) throw notFound({ group: '', resource: '', name: '' })
      return found as T
    },
  }
}

describe('a logical cluster that comes from a shard of kcp', () => {
  let shard: TestShard
  let written: MigrationChange[] = []
  beforeEach(async () => {
    shard = await testShard()
    written = []
  })
  afterEach(() => shard.stop())

  function step(
    kcp: Partial<PeerClient>,
    status: MigrationStatus = {},
    metadata: Metadata = { finalizers: [migrationFinalizer] },
  ): MigrationStep {
    const { content, informers } = shard
    const peers = new Map([['kcp', kcp as PeerClient]])
    const tenancy = { shards: resources.apiExports }
    const deps = { content, informers, peers, tenancy, shard: { name: 'beta' }, log: silent }
    return stepOf({
      deps,
      write: async (_, __, change) => void written.push(change),
      metadata: { name: 'move', ...metadata },
      spec: { logicalCluster: cluster, destinationShard: 'beta' },
      status: { phase: 'Migrating', originShard: 'kcp', ...status },
    })
  }
  const last = (): MigrationStatus => {
    const change = written.at(-1)
    assert.ok(change !== undefined && 'status' in change)
    return change.status
  }
  const failure = (): string | undefined => findCondition(last().conditions, 'DataCopied')?.message
  const at = async (key: string): Promise<KubeObject | undefined> => {
    const value = await shard.store.get(key)
    return value && decodeObject(decodeStored(value.value).bytes)
  }

  it('has all its objects here, and the definitions of what it has bound', async () => {
    const kcp = kcpShard({
      '': { entries: [bindingEntry, homeEntry], continue: 'core/configmaps/moving/default/a' },
      'core/configmaps/moving/default/a': { entries: [mapEntry] },
    })
    await copyPage(step(kcp))
    assert.deepEqual([last().phase, last().entriesCopied], ['Migrating', 2])
    assert.equal(await at('/registry/moving/core/configmaps/-/default/a'), undefined, 'it waits')
    await copyPage(step(kcp, last()))
    assert.deepEqual([last().phase, last().entriesCopied], ['OriginCleanup', 4])
    const closed = await at('/registry/moving/core.kcp.io/logicalclusters/customresources//cluster')
    assert.equal(closed?.metadata.annotations?.[incomingAnnotation], 'kcp,77,complete,3')
    await finalize(step(kcp, last()))
    assert.equal(last().phase, 'Completed')
    assert.deepEqual((await at('/registry/moving/core/configmaps/-/default/a'))?.data, { x: 'y' })
    const crds = '/registry/system:bound-crds/apiextensions.k8s.io/customresourcedefinitions/-//'
    assert.deepEqual((await at(crds + uid))?.spec, { group: 'wildwest.dev' })
  })

  it('keeps its migration until it is completed', async () => {
    await copyPage(step(kcpShard({ '': { entries: [homeEntry] } }), {}, { finalizers: ['other'] }))
    assert.deepEqual(written, [{ finalizers: ['other', migrationFinalizer] }])
  })

  const refused = async (entries: readonly DumpEntry[], message: RegExp): Promise<void> => {
    const kcp = kcpShard({ '': { entries } }, [])
    assert.ok(await copyPage(step(kcp)), 'it is tried again')
    assert.match(failure() ?? '', message)
    assert.deepEqual([last().phase, last().entriesCopied], ['Migrating', undefined])
    assert.equal(await shard.store.get('/migrating/root:move/moving/core/configmaps/-/default/a'), undefined)
  }

  it('is not taken with an entry of another logical cluster, nor with one of an unknown kind', async () => {
    const foreign = protobufEntry('core/configmaps/other/default/a', configMap)
    await refused([homeEntry, mapEntry, foreign], /has the entry core\/configmaps\/other\/default\/a/)
    const pod = jsonEntry('core/pods/moving/default/p', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'default' },
    })
    await refused([homeEntry, mapEntry, pod], /core\/pods\/moving\/default\/p cannot be stored/)
  })

  it('is not taken without a definition of what it has bound', async () => {
    await copyPage(step(kcpShard({ '': { entries: [homeEntry, bindingEntry] } }, [])))
    assert.match(failure() ?? '', new RegExp(`no definition .* ${uid}`))
    assert.equal(last().phase, 'Migrating')
  })

  it('is given up when its migration is deleted and the shard has forgotten it', async () => {
    const deleted = { finalizers: [migrationFinalizer], deletionTimestamp: '2026-01-01T00:00:00Z' }
    const gone = { post: () => Promise.reject(notFound({ group: '', resource: '', name: '' })) }
    await copyPage(step(gone, {}))
    assert.equal(last().phase, 'Migrating')
    await copyPage(step({ post: () => Promise.reject(serviceUnavailable('')) }, {}, deleted))
    assert.equal(last().phase, 'Migrating')
    await copyPage(step(gone, {}, deleted))
    assert.equal(last().phase, 'Failed')
  })

  it('is asked for as a member of the group to which kcp gives entries, at the URL of the views', async () => {
    const kcp = kcpShard({ '': { entries: [homeEntry] } })
    const asked: string[] = []
    const connectViews = (url: string): PeerClient => {
      asked.push(url)
      return { ...kcp, close: async () => undefined } as PeerClient
    }
    await shard.addCluster('root')
    const shards = resources.apiExports
    await shard.content.add([
      {
        cluster: 'root',
        resource: shards,
        object: {
          apiVersion: 'core.kcp.io/v1alpha1',
          kind: 'Shard',
          metadata: { name: 'kcp' },
          spec: { baseURL: 'https://a', virtualWorkspaceURL: 'https://views/' },
        },
      },
    ])
    const { deps, ...rest } = step({ ...kcp, post: () => assert.fail('with the credentials of shards') })
    await copyPage({ deps: { ...deps, connectViews }, ...rest })
    assert.deepEqual([asked, last().phase], [['https://views'], 'OriginCleanup'])
  })
})
