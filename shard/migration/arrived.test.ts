import assert from 'node:assert/strict'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { incomingAnnotation, leavingAnnotation, migratingAnnotation } from '../../kcp/annotations.ts'
import { findCondition } from '../../kcp/conditions.ts'
import type { MigrationStatus } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { configMap } from '../testing/tenant.ts'
import type { MigrationChange } from './home.ts'
import { cleanUp, prepare } from './origin.ts'
import { annotated, changeOf, rangeOf, rawCluster } from './rawcluster.ts'
import type { MigrationStep } from './step.ts'
import { stepOf } from './testing/step.ts'

const cluster = 'moving'

describe('the objects of a logical cluster that moves', () => {
  let shard: TestShard
  /** What beta has of the LogicalCluster: its annotations, or an error of this code. */
  let there: Readonly<Record<string, string>> | number
  let status: MigrationStatus
  beforeEach(async () => {
    shard = await testShard()
    await shard.addCluster(cluster)
    for (const name of ['a', 'b'])
      await shard.content.add([{ cluster, resource: resources.configMaps, object: configMap(name) }])
    status = { phase: 'Preparing', originShard: 'alpha' }
    await prepare(step())
    status = { ...status, phase: 'OriginCleanup' }
  })
  afterEach(() => shard.stop())

  function step(): MigrationStep {
    const get = async (path: string): Promise<object> => {
      if (path === '/version') return { gitVersion: 'v1.36.0+oriel-v1' }
      if (typeof there === 'number') throw new StatusError(there, '', 'no answer')
      return { metadata: { name: 'cluster', annotations: there } }
    }
    const deps = {
      content: shard.content,
      informers: shard.informers,
      log: silent,
      peers: new Map([['beta', { get } as unknown as PeerClient]]),
      shard: { name: 'alpha' },
      tenancy: { shards: resources.apiExports, workspaceTypes: resources.apiExports },
    }
    return stepOf({
      deps,
      write: async (_, __, change: MigrationChange) => {
        if ('status' in change) status = change.status
      },
      metadata: { name: 'move', finalizers: ['migration.kcp.io/logicalclustermigration'] },
      spec: { logicalCluster: cluster, destinationShard: 'beta' },
      status,
    })
  }
  const left = async (): Promise<number> =>
    (await shard.content.values(...rangeOf(cluster), 99)).filter(({ key }) => key.includes('/configmaps/'))
      .length
  const closed = async (): Promise<number> => (await rawCluster(shard.content, cluster))?.modified ?? 0
  const arrived = (text: string) => ({ [migratingAnnotation]: 'root:move', [incomingAnnotation]: text })
  const all = async (): Promise<number> => (await shard.content.values(...rangeOf(cluster), 99)).length

  it('are removed when the destination has all of them', async () => {
    there = arrived(`alpha,${await closed()},complete,${await all()}`)
    await cleanUp(step())
    assert.deepEqual([status.phase, await left()], ['DestinationFinalize', 0])
  })

  it('stay, and are copied again, while the destination does not say that', async () => {
    const [since, count] = [await closed(), await all()]
    for (const answer of [
      404,
      403,
      {},
      arrived(`alpha,${since}`),
      arrived(`alpha,${since - 1},complete`),
      arrived(`alpha,${since},complete,${count - 1}`),
      arrived(`alpha,${since - 1},complete,${count}`),
      arrived(`gamma,${since},complete,${count}`),
      { ...arrived(`alpha,${since},complete,${count}`), [migratingAnnotation]: 'root:other' },
    ]) {
      there = answer
      status = { ...status, phase: 'OriginCleanup', entriesCopied: 3, dumpContinue: '' }
      await cleanUp(step())
      const text = JSON.stringify(answer)
      assert.deepEqual([status.phase, status.entriesCopied, await left()], ['Migrating', 0, 2], text)
    }
  })

  it('stay while the destination does not answer', async () => {
    there = 503
    assert.ok(await cleanUp(step()), 'it is asked again')
    assert.deepEqual([status.phase, await left()], ['OriginCleanup', 2])
    const { reason, message } = findCondition(status.conditions, 'OriginCleaned') ?? {}
    assert.deepEqual([reason, message], ['DestinationUnreachable', 'no answer'])
  })

  it('stay while the destination is of a version that does not count them', async () => {
    there = arrived(`alpha,${await closed()},complete`)
    assert.ok(await cleanUp(step()), 'it is asked again')
    assert.deepEqual([status.phase, await left()], ['OriginCleanup', 2])
    const { reason, message } = findCondition(status.conditions, 'OriginCleaned') ?? {}
    assert.equal(reason, 'DestinationOutdated')
    assert.equal(message, 'shard beta does not say how many objects it has copied: its version is too old')
  })

  it('are not those of copies from before they were copied again', async () => {
    there = arrived(`alpha,${await closed()},complete,${(await all()) - 1}`)
    await cleanUp(step())
    there = arrived(`alpha,${(await closed()) - 1},complete,${await all()}`)
    status = { ...status, phase: 'OriginCleanup' }
    await cleanUp(step())
    assert.deepEqual([status.phase, await left()], ['Migrating', 2])
  })

  it('are removed without a question when some of them are gone', async () => {
    const raw = await rawCluster(shard.content, cluster)
    assert.ok(raw)
    const leaving = annotated(raw.object, { [leavingAnnotation]: 'beta' })
    await shard.content.transfer([changeOf(cluster, raw, leaving)])
    there = 503
    await cleanUp(step())
    assert.deepEqual([status.phase, await left()], ['DestinationFinalize', 0])
  })
})
