import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import {
  dumpAnnotation,
  dumpStates,
  leavingAnnotation,
  migratingAnnotation,
  migrationFinalizer,
} from '../../kcp/annotations.ts'
import { findCondition } from '../../kcp/conditions.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import type { MigrationStatus } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { decodeStored, encodeStored } from '../cache/codec.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import type { MigrationChange } from './home.ts'
import { canEnd, cleanUp, prepare, reopen } from './origin.ts'
import { annotated, changeOf, rawCluster } from './rawcluster.ts'
import type { MigrationStep } from './step.ts'
import { stepOf } from './testing/step.ts'

const cluster = 'moving'
const view = { apiVersion: 'views.oriel.dev/v1alpha1', kind: 'View', metadata: { name: 'v' } }
const viewKey = '/registry/moving/views.oriel.dev/views/customresources//v'
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }

describe('a logical cluster that moves to a shard of kcp', () => {
  let shard: TestShard
  let written: MigrationChange[] = []
  let patched: unknown[] = []
  beforeEach(async () => {
    shard = await testShard()
    written = []
    patched = []
    assigned = cluster
    await shard.addCluster(cluster)
    await shard.content.add([{ cluster, resource: resources.configMaps, object: configMap }])
  })
  afterEach(() => shard.stop())

  /** The logical cluster of the Workspace `ws`. */
  let assigned: string

  function step(status: MigrationStatus = { phase: 'Preparing', originShard: 'alpha' }): MigrationStep {
    const kcp: Partial<PeerClient> = {
      get: async <T>(path: string) =>
        (path === '/version' ? { gitVersion: 'v1.36.0+kcp-v0.30.0' } : { spec: { cluster: assigned } }) as T,
      async patch<T>(path: string, body: object) {
        patched.push([path, body])
        return {} as T
      },
    }
    const deps = {
      content: shard.content,
      informers: shard.informers,
      log: silent,
      peers: new Map([['kcp', kcp as PeerClient]]),
      shard: { name: 'alpha' },
      apis: () => undefined,
      tenancy: { shards: resources.apiExports, workspaceTypes: resources.apiExports },
    }
    return stepOf({
      deps,
      write: async (_, __, change) => void written.push(change),
      metadata: { name: 'move', finalizers: [migrationFinalizer] },
      spec: { logicalCluster: cluster, destinationShard: 'kcp' },
      status,
    })
  }
  const last = (): MigrationStatus => {
    const change = written.at(-1)
    assert.ok(change !== undefined && 'status' in change)
    return change.status
  }
  const annotations = async (): Promise<Readonly<Record<string, string>>> =>
    (await rawCluster(shard.content, cluster))?.object.metadata.annotations ?? {}
  async function change(edit: (home: LogicalCluster) => LogicalCluster): Promise<void> {
    const raw = await rawCluster(shard.content, cluster)
    assert.ok(raw)
    await shard.content.transfer([changeOf(cluster, raw, edit(raw.object))])
  }
  const closed = async (): Promise<number> => (await rawCluster(shard.content, cluster))?.modified ?? 0
  const setDump = (state: string): Promise<void> =>
    change(home => annotated(home, { [dumpAnnotation]: state }))

  it('is closed and waits for the shard of kcp', async () => {
    await prepare(step())
    assert.equal(last().phase, 'Migrating')
    const found = await annotations()
    assert.equal(found[migratingAnnotation], 'root:move')
    assert.equal(found[dumpAnnotation], dumpStates.awaited)
  })

  it('stays open with an object of a kind that kcp does not have', async () => {
    await shard.content.transfer([{ key: viewKey, value: encodeStored(view) }])
    await prepare(step())
    assert.equal(last().phase, 'Failed')
    assert.equal((await annotations())[migratingAnnotation], undefined)
    const { reason, message = '' } = findCondition(last().conditions, 'OriginReady') ?? {}
    assert.equal(reason, 'DestinationNotSupported')
    assert.match(message, /has views\.views\.oriel\.dev, which shard kcp of kcp does not have/)
  })

  it('fails with such an object that was created before it was closed, and is opened again', async () => {
    const { deps, ...rest } = step()
    const { content } = deps
    let closings = 0
    const transfer: typeof content.transfer = async changes => {
      if (closings++ === 0) await content.transfer([{ key: viewKey, value: encodeStored(view) }])
      return content.transfer(changes)
    }
    await prepare({ ...rest, deps: { ...deps, content: { ...content, transfer } } })
    assert.equal(last().phase, 'Failed')
    await reopen(step(), cluster)
    const found = await annotations()
    assert.deepEqual([found[migratingAnnotation], found[dumpAnnotation]], [undefined, undefined])
  })

  it('stays when its migration is deleted before the shard of kcp has asked, which gets nothing then', async () => {
    await prepare(step())
    assert.equal(await canEnd(step(last())), true)
    assert.equal((await annotations())[dumpAnnotation], dumpStates.refused)
    assert.equal(await canEnd(step(last())), true, 'after a restart, too')
  })

  it('goes on moving when its migration is deleted later: the shard of kcp would keep what it has', async () => {
    await prepare(step())
    for (const state of [dumpStates.begun, `${dumpStates.sent},7`]) {
      await setDump(state)
      assert.equal(await canEnd(step(last())), false)
      assert.equal((await annotations())[dumpAnnotation], state)
    }
  })

  const owner = { resource: 'workspaces', cluster: 'org', name: 'ws' }
  const own = (): Promise<void> =>
    change(home => ({ ...home, spec: { ...home.spec, owner } as NonNullable<LogicalCluster['spec']> }))

  it('changes no Workspace that has another logical cluster', async () => {
    assigned = 'other'
    await own()
    await prepare(step())
    await setDump(`${dumpStates.sent},${await closed()}`)
    await cleanUp(step({ ...last(), phase: 'OriginCleanup' }))
    assert.equal(last().phase, 'DestinationFinalize')
    assert.deepEqual(patched, [])
  })

  it('keeps its objects until the shard of kcp has got the last ones, whatever the migration says', async () => {
    await prepare(step())
    for (const state of [dumpStates.awaited, dumpStates.begun]) {
      await setDump(state)
      await cleanUp(step({ ...last(), phase: 'OriginCleanup' }))
      assert.deepEqual([last().phase, last().entriesCopied], ['Migrating', 0])
      assert.ok(await rawCluster(shard.content, cluster))
    }
  })

  it('is sent again with what was written after it was closed', async () => {
    await prepare(step())
    const since = await closed()
    const late = { ...configMap, metadata: { name: 'late', namespace: 'default' } }
    const key = '/registry/moving/core/configmaps/-/default/late'
    await shard.content.transfer([{ key, value: encodeStored(late) }])
    await setDump(`${dumpStates.sent},${since}`)
    await cleanUp(step({ ...last(), phase: 'OriginCleanup' }))
    assert.equal(last().phase, 'Migrating')
    assert.equal((await annotations())[dumpAnnotation], dumpStates.begun)
  })

  it('leaves nothing behind, and its Workspace names the shard', async () => {
    await own()
    await prepare(step())
    await setDump(`${dumpStates.sent},${await closed()}`)
    await cleanUp(step({ ...last(), phase: 'OriginCleanup' }))
    assert.equal(last().phase, 'DestinationFinalize')
    assert.equal(await rawCluster(shard.content, cluster), undefined)
    assert.deepEqual(await shard.content.values('/registry/moving/core/', '/registry/moving/core0', 9), [])
    const [[path, body]] = patched as [[string, { metadata: { annotations: Record<string, string> } }]]
    assert.equal(path, '/clusters/org/apis/tenancy.kcp.io/v1alpha1/workspaces/ws')
    assert.equal(body.metadata.annotations['core.kcp.io/shard'], 'kcp')
    const left = await shard.store.get(
      '/registry/moving/core.kcp.io/logicalclusters/customresources//cluster',
    )
    const { metadata } = decodeObject(decodeStored(left?.value ?? Buffer.alloc(0)).bytes)
    assert.equal(metadata.annotations?.['kcp.io/shard'], 'kcp')
    assert.deepEqual(
      [metadata.annotations[leavingAnnotation], metadata.annotations[dumpAnnotation]],
      [undefined, undefined],
    )
  })
})
