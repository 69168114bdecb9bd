import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { incomingAnnotation, leavingAnnotation, migrationFinalizer } from '../../kcp/annotations.ts'
import { rootCluster } from '../../kcp/logicalclusters.ts'
import {
  entriesAnnotation,
  entriesFormat,
  type LogicalClusterDump,
  type MigrationStatus,
} from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { registryPrefix } from '../cache/codec.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { configMap } from '../testing/tenant.ts'
import { advance } from './controller.ts'
import type { MigrationChange } from './home.ts'
import { prepare } from './origin.ts'
import { annotated, changeOf, isLeaving, rangeOf, rawCluster } from './rawcluster.ts'
import type { MigrationStep } from './step.ts'
import { stepOf } from './testing/step.ts'

const cluster = 'moving'

describe('a migration whose status the shard that stores it has taken back', () => {
  let alpha: TestShard
  let beta: TestShard
  let status: MigrationStatus
  /** What happens before alpha gets the answer of beta. */
  let beforeAnswer: () => Promise<unknown>
  beforeEach(async () => {
    alpha = await testShard()
    beta = await testShard()
    beforeAnswer = async () => undefined
    await alpha.addCluster(cluster)
    for (const name of ['a', 'b'])
      await alpha.content.add([{ cluster, resource: resources.configMaps, object: configMap(name) }])
    const shardBeta = { apiVersion: 'apis.kcp.io/v1alpha2', kind: 'APIExport', metadata: { name: 'beta' } }
    await alpha.content.add([{ cluster: rootCluster, resource: resources.apiExports, object: shardBeta }])
    status = { phase: 'Preparing', originShard: 'alpha' }
    await prepare(at('alpha'))
    while (status.phase === 'Migrating') await advance(at('beta'))
    assert.equal(status.phase, 'OriginCleanup')
  })
  afterEach(async () => {
    await alpha.stop()
    await beta.stop()
  })

  async function homeIn(shard: TestShard): Promise<object> {
    const raw = await rawCluster(shard.content, cluster)
    if (raw === undefined) throw new StatusError(404, 'NotFound', '')
    const { metadata } = raw.object
    return { metadata: { ...metadata, resourceVersion: String(raw.modified) } }
  }
  const peerOf = (shard: TestShard, answering: () => Promise<unknown>): PeerClient => {
    const get = async (path: string): Promise<object> => {
      if (path === '/version') return { gitVersion: 'v1.36.0+oriel-v1' }
      const home = await homeIn(shard)
      await answering()
      return home
    }
    return {
      get,
      post: (_: string, dump: LogicalClusterDump) => dumped(shard, dump),
    } as unknown as PeerClient
  }
  /** Pages of one entry. */
  async function dumped({ content, store }: TestShard, { spec }: LogicalClusterDump): Promise<object> {
    const raw = await rawCluster(content, cluster)
    if (raw === undefined || isLeaving(raw)) throw new StatusError(404, 'NotFound', '')
    const [from, to] = rangeOf(cluster)
    const after = spec?.continue ? `${registryPrefix}${spec.continue}\0` : from
    const [first, next] = await content.values(after, to, 2)
    assert.ok(first)
    const key = first.key.slice(registryPrefix.length)
    const entries = [{ key, value: first.value.toString('base64') }]
    const annotations = { [entriesAnnotation]: entriesFormat }
    const metadata = { annotations, resourceVersion: String(store.revision) }
    return { metadata, status: { entries, continue: next && key } }
  }

  function at(name: 'alpha' | 'beta'): MigrationStep {
    const { content, informers } = name === 'alpha' ? alpha : beta
    const peers = new Map([
      ['alpha', peerOf(alpha, async () => undefined)],
      ['beta', peerOf(beta, () => beforeAnswer())],
    ])
    const tenancy = { shards: resources.apiExports, workspaceTypes: resources.apiExports }
    return stepOf({
      deps: { content, informers, log: silent, peers, shard: { name }, tenancy },
      write: async (_, __, change: MigrationChange) => {
        if ('status' in change) status = change.status
      },
      metadata: { name: 'move', finalizers: [migrationFinalizer] },
      spec: { logicalCluster: cluster, destinationShard: 'beta' },
      status,
    })
  }
  const rewind = (): void => {
    status = { ...status, phase: 'Migrating', dumpContinue: '', entriesCopied: 0 }
  }
  const configMapsIn = async ({ content }: TestShard): Promise<number> =>
    (await content.values(...rangeOf(cluster), 99)).filter(({ key }) => key.includes('/configmaps/')).length
  async function goOn(): Promise<void> {
    for (let i = 0; i < 10 && status.phase !== 'Completed'; i++) {
      await advance(at('alpha'))
      await advance(at('beta'))
    }
    const left = [await configMapsIn(alpha), await configMapsIn(beta)]
    assert.deepEqual([status.phase, ...left], ['Completed', 0, 2])
  }

  it('keeps the copies of which the destination has told the origin', async () => {
    beforeAnswer = async () => {
      beforeAnswer = async () => undefined
      rewind()
      await advance(at('beta'))
    }
    await advance(at('alpha'))
    await goOn()
  })

  it('goes on when the origin has begun to remove the objects', async () => {
    const raw = await rawCluster(alpha.content, cluster)
    assert.ok(raw)
    const leaving = annotated(raw.object, { [leavingAnnotation]: 'beta' })
    await alpha.content.transfer([changeOf(cluster, raw, leaving)])
    rewind()
    await goOn()
  })

  it('copies everything again when the origin has closed the logical cluster anew', async () => {
    const raw = await rawCluster(alpha.content, cluster)
    assert.ok(raw)
    await alpha.content.transfer([changeOf(cluster, raw, raw.object)])
    const before = await noteOf()
    rewind()
    await advance(at('beta'))
    assert.notEqual(await noteOf(), before)
    await goOn()
  })

  it('goes on when the destination has noted how much it has after its upgrade', async () => {
    const raw = await rawCluster(beta.content, cluster)
    assert.ok(raw)
    const [origin, last] = (await noteOf())?.split(',') ?? []
    const old = annotated(raw.object, { [incomingAnnotation]: `${origin},${last},complete` })
    await beta.content.transfer([changeOf(cluster, raw, old)])
    await advance(at('alpha'))
    assert.deepEqual([status.phase, await configMapsIn(alpha)], ['OriginCleanup', 2])
    await goOn()
  })

  const noteOf = async () =>
    (await rawCluster(beta.content, cluster))?.object.metadata.annotations?.[incomingAnnotation]
})
