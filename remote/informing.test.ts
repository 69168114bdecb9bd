import assert from 'node:assert/strict'
import { silent } from '../framework/contract/log.ts'
import type { Informer } from '../framework/index.ts'
import { syncTarget, syncTargets } from '../test/support/views/examplecrds.ts'
import { type Installation, startInstallation } from '../testing/index.ts'
import { remoteShard } from './backend.ts'
import { connectShard, type ShardConnection } from './connection/connection.ts'

const ref = { group: 'workload.example.com', version: 'v1alpha1', resource: 'synctargets' }
const admin = { name: 'admin', groups: ['system:masters'] }
const token = Buffer.from(JSON.stringify(admin)).toString('base64url')
const path = '/apis/workload.example.com/v1alpha1/synctargets'

describe('an informer of objects of CustomResourceDefinitions, in front of a shard', () => {
  let oriel: Installation
  let connection: ShardConnection
  let stop: AbortController
  let informer: Informer
  const events: string[] = []

  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise(resolve => setTimeout(resolve, 5))
  }
  const named = (name: string) => ({ ...syncTarget, metadata: { name }, spec: { cells: 1 } })
  const names = (): readonly string[] =>
    informer.list().map(({ key, object }) => `${key.cluster}/${key.name} ${object.kind}`)

  before(async () => {
    oriel = await startInstallation({ plugins: [] })
    stop = new AbortController()
    connection = connectShard({ server: oriel.url, token }, silent)
    informer = remoteShard({ connection, log: silent, signal: stop.signal }).informers.for(ref)
    informer.onEvent(({ type, item }) => {
      const { metadata, spec } = item.object
      events.push(`${type} ${item.key.cluster}/${metadata.name} ${JSON.stringify(spec)}`)
    })
  })
  after(async () => {
    stop.abort()
    await connection.close()
    await oriel.close()
  })

  it('has those of all logical clusters, also when the definitions come after it', async () => {
    for (const cluster of ['one', 'two']) {
      await oriel.cluster(cluster, syncTargets)
      await oriel.cluster(cluster, named('east'))
    }
    await informer.synced
    await until(() => informer.list().length === 2)
    assert.deepEqual([...names()].sort(), ['one/east SyncTarget', 'two/east SyncTarget'])
  })

  it('has whole objects in events, also when they are deleted', async () => {
    events.length = 0
    const headers = { 'content-type': 'application/merge-patch+json' }
    const user = oriel.as(admin)
    await oriel.cluster('two', named('west'))
    await until(() => informer.list().length === 3)
    await user.request(`/clusters/two${path}/west`, {
      method: 'PATCH',
      headers,
      body: { spec: { cells: 2 } },
    })
    await until(() => events.length === 2)
    await user.request(`/clusters/two${path}/west`, { method: 'DELETE' })
    await until(() => informer.list().length === 2)
    assert.deepEqual(events, [
      'ADDED two/west {"cells":1}',
      'MODIFIED two/west {"cells":2}',
      'DELETED two/west {"cells":2}',
    ])
  })
})
