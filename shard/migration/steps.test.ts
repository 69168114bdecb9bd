import assert from 'node:assert/strict'
import { allow } from '../../framework/contract/authorizer.ts'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError, serviceUnavailable } from '../../framework/meta/errors.ts'
import { incomingAnnotation, migratingAnnotation, migrationFinalizer } from '../../kcp/annotations.ts'
import { findCondition } from '../../kcp/conditions.ts'
import { shardCluster } from '../../kcp/logicalclusters.ts'
import { entriesAnnotation, entriesFormat, type MigrationStatus } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { bootstrap } from '../bootstrap/bootstrap.ts'
import { encodeStored, registryPrefix, storageKey } from '../cache/codec.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import { kcpParts } from '../kcp.ts'
import { openMemoryStore } from '../store/memory.ts'
import { type TestShard, testShard, until } from '../testing/shard.ts'
import { migrationController } from './controller.ts'
import { copyPage, finalize } from './destination.ts'
import type { MigrationChange } from './home.ts'
import { reportMissing } from './missing.ts'
import { prepare } from './origin.ts'
import { keyOfCluster } from './rawcluster.ts'
import type { MigrationStep } from './step.ts'
import { stepOf } from './testing/step.ts'

const url = 'https://localhost:6443'
const addresses = { name: 'beta', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

const configMaps = { group: '', resource: 'configmaps', segment: '-' }
const configMap = (name: string, metadata: object = {}): Buffer =>
  encodeStored({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', ...metadata } })
const cowboy = (metadata: object): Buffer =>
  encodeStored({ apiVersion: 'wild.west/v1', kind: 'Cowboy', metadata: { name: 'a', ...metadata } })

describe('the steps of a migration', () => {
  let shard: TestShard
  let written: MigrationStatus[] = []
  before(async () => {
    shard = await testShard()
  })
  beforeEach(() => {
    written = []
  })
  after(() => shard.stop())

  function step(logicalCluster: string, status: MigrationStatus, alpha: Partial<PeerClient>): MigrationStep {
    const { content, informers } = shard
    const peers = new Map([['alpha', alpha as PeerClient]])
    const tenancy = { shards: resources.apiExports }
    const deps = { content, informers, peers, tenancy, shard: { name: 'beta' }, log: silent }
    const write = async (_: object, __: string, change: MigrationChange): Promise<void> => {
      if ('status' in change) written.push(change.status)
    }
    return stepOf({
      deps,
      write,
      status,
      metadata: { name: 'move', finalizers: [migrationFinalizer] },
      spec: { logicalCluster, destinationShard: 'beta' },
    })
  }
  const originReady = () => findCondition(written[0]?.conditions, 'OriginReady')

  it('fail when the logical cluster was deleted before it was closed', async () => {
    await prepare(step('gone', { originShard: 'beta' }, {}))
    assert.equal(written[0]?.phase, 'Failed')
    assert.equal(originReady()?.reason, 'LogicalClusterNotFound')
  })

  it('report that no shard has the logical cluster, and begin when one has it', async () => {
    const missing = { get: () => Promise.reject(new StatusError(404, 'NotFound', '')) }
    await reportMissing(step('nothing', {}, missing))
    assert.deepEqual(
      [written[0]?.phase, originReady()?.reason, originReady()?.message],
      [undefined, 'LogicalClusterNotFound', 'no shard has the logical cluster "nothing"'],
    )
    await reportMissing(step('nothing', written[0] ?? {}, missing))
    assert.equal(written.length, 1)
  })

  it('report nothing about a logical cluster that a shard has, or may have', async () => {
    const found = { get: async <T>() => ({ metadata: {} }) as T }
    const silentPeer = { get: () => Promise.reject(serviceUnavailable('')) }
    await reportMissing(step('something', {}, found))
    await assert.rejects(reportMissing(step('something', {}, silentPeer)))
    await reportMissing({ ...step('nothing', {}, found), isHere: false })
    assert.deepEqual(written, [])
  })

  it('ask no shard about what is no name of a logical cluster', async () => {
    await reportMissing(step('root:org/../x', {}, { get: () => assert.fail('asked') }))
    assert.equal(originReady()?.reason, 'LogicalClusterNotFound')
  })

  it('copy everything again when the destination was changed after some pages', async () => {
    const metadata = { name: 'cluster' }
    const home = encodeStored({ apiVersion: 'core.kcp.io/v1alpha1', kind: 'LogicalCluster', metadata })
    const entry = (key: string, value: Buffer) => ({
      key: key.slice(registryPrefix.length),
      value: value.toString('base64'),
    })
    const other = storageKey(configMaps, { cluster: 'changed', namespace: 'default', name: 'late' })
    const annotations = { [entriesAnnotation]: entriesFormat }
    const page = {
      metadata: { annotations, resourceVersion: '9' },
      status: { entries: [entry(keyOfCluster('changed'), home), entry(other, configMap('late'))] },
    }
    const alpha = { post: async <T>() => page as T }
    const status = { phase: 'Migrating', originShard: 'alpha' } as const
    await copyPage(step('changed', { ...status, entriesCopied: 500, dumpContinue: 'changed/b' }, alpha))
    assert.deepEqual([written[0]?.phase, written[0]?.entriesCopied], ['Migrating', 0])
    assert.equal(written[0]?.dumpContinue, '')
    await copyPage(step('changed', { ...status, entriesCopied: 0, dumpContinue: '' }, alpha))
    assert.deepEqual([written[1]?.phase, written[1]?.entriesCopied], ['OriginCleanup', 2])
  })

  it('copy no entry of another logical cluster, but definitions of bound resources', async () => {
    const foreign = ['other/core/secrets/-/default/s', 'system:bound-crds/core/secrets/-/default/s', 'other']
    for (const key of foreign) {
      const metadata = { annotations: { [entriesAnnotation]: entriesFormat }, resourceVersion: '9' }
      const alpha = { post: async <T>() => ({ metadata, status: { entries: [{ key, value: '' }] } }) as T }
      await copyPage(step('ours', { phase: 'Migrating', originShard: 'alpha' }, alpha))
      const { message = '' } = findCondition(written.at(-1)?.conditions, 'DataCopied') ?? {}
      assert.equal(message, `the dump of logical cluster ours has the entry ${key}`)
    }
  })

  /** Asks the shard alpha, which sends these entries of a logical cluster, and returns what the migration reports. */
  async function copied(
    cluster: string,
    entries: readonly { readonly key: string; readonly value: Buffer }[],
  ): Promise<string | undefined> {
    const metadata = { annotations: { [entriesAnnotation]: entriesFormat }, resourceVersion: '9' }
    const encoded = entries.map(({ key, value }) => ({ key, value: value.toString('base64') }))
    const alpha = { post: async <T>() => ({ metadata, status: { entries: encoded } }) as T }
    const running = step(cluster, { phase: 'Migrating', originShard: 'alpha' }, alpha)
    await copyPage(running)
    return findCondition(written.at(-1)?.conditions, 'DataCopied')?.message
  }
  const homeOf = (cluster: string, annotations = {}) => ({
    key: keyOfCluster(cluster).slice(registryPrefix.length),
    value: encodeStored({
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'LogicalCluster',
      metadata: { name: 'cluster', annotations },
      spec: {},
    }),
  })

  it('take no place of a logical cluster of this shard, of the system, or of another migration', async () => {
    await shard.addCluster('own')
    const own = await shard.store.get(keyOfCluster('own'))
    assert.equal(await copied('own', [homeOf('own')]), 'shard beta has a logical cluster own of its own')
    assert.deepEqual(await shard.store.get(keyOfCluster('own')), own)
    for (const cluster of ['root', 'system:admin', 'a/b', '*'])
      assert.equal(await copied(cluster, [homeOf(cluster)]), `logical cluster ${cluster} stays on its shard`)
    const { value } = homeOf('busy', { [migratingAnnotation]: 'root:other', [incomingAnnotation]: 'alpha,7' })
    await shard.content.transfer([{ key: keyOfCluster('busy'), value }])
    assert.match(
      (await copied('busy', [homeOf('busy')])) ?? '',
      /is moving to shard beta by another migration/,
    )
  })

  const place = 'sent/core/configmaps/-/default/a'
  const good = configMap('a')
  const wrongOffset = Buffer.from(good)
  wrongOffset.writeUInt32LE(500_000, 9)
  for (const [what, key, value] of [
    ['no bytes', place, Buffer.alloc(0)],
    ['half a header', place, good.subarray(0, 5)],
    ['no JSON', place, Buffer.concat([good.subarray(0, 17), Buffer.from('x'.repeat(good.length))])],
    ['the object of another key', place, configMap('b')],
    ['labels of the wrong type', place, configMap('a', { labels: { x: {} } })],
    [
      'fields that controllers cannot read',
      'sent/rbac.authorization.k8s.io/clusterrolebindings/-//a',
      encodeStored({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'a' },
        subjects: 5,
      }),
    ],
    ['metadata of the wrong type', 'sent/wild.west/cowboys/customresources//a', cowboy({ finalizers: 'x' })],
  ] as const)
    it(`copy no entry with ${what}`, async () => {
      const message = await copied('sent', [homeOf('sent'), { key, value }])
      assert.match(message ?? '', new RegExp(`^the entry ${key} cannot be stored: `))
      assert.equal(await shard.store.get(keyOfCluster('sent')), undefined)
    })

  it('encode the objects of entries again', async () => {
    assert.equal(
      await copied('again', [
        homeOf('again'),
        { key: 'again/core/configmaps/-/default/a', value: wrongOffset },
      ]),
      undefined,
    )
    const waiting = await shard.store.get('/migrating/root:move/again/core/configmaps/-/default/a')
    assert.deepEqual(waiting?.value, good)
  })

  it('replace no definition of a bound resource that this shard has', async () => {
    const definition = (group: string) =>
      encodeStored({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'u1' },
        spec: { group, names: { plural: 'as', kind: 'A' }, scope: 'Cluster', versions: [] },
      })
    const key = 'system:bound-crds/apiextensions.k8s.io/customresourcedefinitions/-//u1'
    await shard.content.transfer([{ key: registryPrefix + key, value: definition('ours.io') }])
    await copied('consumer', [homeOf('consumer'), { key, value: definition('theirs.io') }])
    assert.equal(written.at(-1)?.phase, 'OriginCleanup')
    await finalize(step('consumer', written.at(-1) ?? {}, {}))
    assert.equal(written.at(-1)?.phase, 'Completed')
    assert.deepEqual((await shard.store.get(registryPrefix + key))?.value, definition('ours.io'))
  })

  it('keep what was copied until the origin has sent it again', async () => {
    const waiting = '/migrating/root:move/moving/core/configmaps/default/kept'
    const annotations = { [migratingAnnotation]: 'root:move', [incomingAnnotation]: 'alpha,7,complete' }
    const metadata = { name: 'cluster', annotations }
    const home = encodeStored({ apiVersion: 'core.kcp.io/v1alpha1', kind: 'LogicalCluster', metadata })
    await shard.content.transfer([
      { key: keyOfCluster('moving'), value: home },
      { key: waiting, value: Buffer.from('kept') },
    ])
    const refuses = { post: () => Promise.reject(serviceUnavailable('it has left')) }
    await copyPage(step('moving', { phase: 'Migrating', originShard: 'alpha' }, refuses))
    assert.equal((await shard.store.get(waiting))?.value.toString(), 'kept')
    assert.deepEqual((await shard.store.get(keyOfCluster('moving')))?.value, home)
  })
})

describe('the controller of migrations', () => {
  it('follows them also when its first write failed', async () => {
    const store = openMemoryStore()
    const tenancy = await bootstrap({ store, shard: addresses })
    const parts = kcpParts({ tenancy, shard: addresses, rootCA: '' })
    let tries = 0
    const shard = await testShard({
      store,
      ...parts,
      authorizer: () => ({ authorize: async () => allow('') }),
      controllers: host => {
        const add: typeof host.content.add = objects =>
          objects[0]?.cluster === shardCluster && tries++ === 0
            ? Promise.reject(serviceUnavailable('no leader'))
            : host.content.add(objects)
        return parts.controllers({ ...host, content: { ...host.content, add } })
      },
    })
    const running = shard.run()
    const bindings = shard.informers.for(resources.apiBindings)
    await until(() => bindings.get(shardCluster, '', 'migration.kcp.io'))
    assert.equal(tries, 2)
    await shard.stop()
    await running
    await store.close()
  })

  it('stops to follow another shard also before the migrations are exported', async () => {
    const shard = await testShard()
    const controller = migrationController({ ...shard, shard: addresses } as unknown as KcpControllerDeps)
    const stop = new AbortController()
    const following = controller.follow({ name: 'alpha', client: {} as PeerClient }, stop.signal)
    stop.abort()
    await following
    await shard.stop()
  })
})
