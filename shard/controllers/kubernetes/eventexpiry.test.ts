import assert from 'node:assert/strict'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { type TestShard, testShard, until } from '../../testing/shard.ts'
import { eventExpiryController } from './eventexpiry.ts'

const cluster = 'c1'
const aDay = 86_400_000
const events: ResourceRef = { group: '', version: 'v1', resource: 'events' }
const event = (name: string, times: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'default' },
  involvedObject: {},
  ...times,
})
const key = (name: string) => ({ cluster, namespace: 'default', name })

describe('event expiry', () => {
  let shard: TestShard
  let running: Promise<void>
  beforeEach(async () => {
    shard = await testShard()
    running = shard.run()
    await shard.addCluster(cluster)
    await shard.client.create(
      resources.namespaces,
      { cluster, namespace: '', name: 'default' },
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'default' },
      },
    )
  })
  afterEach(async () => {
    await shard.stop()
    await running
  })

  const create = (name: string, times: object = {}) =>
    shard.client.create(events, key(name), event(name, times))
  const stored = (name: string) => shard.informers.for(events).get(cluster, 'default', name)
  const settled = () => Promise.all(shard.controllers.map(controller => controller.idle()))

  /** Runs the controller until the event is gone. */
  async function expires(name: string, keep: number): Promise<void> {
    const stop = new AbortController()
    const { client, informers, log } = shard
    const expired = eventExpiryController({ client, informers, log, keep }).run(stop.signal)
    await until(() => (stored(name) === undefined ? true : undefined))
    stop.abort()
    await expired
  }

  /** Runs an action while the clock of the machine differs. */
  async function atClock(offset: number, action: () => Promise<void>): Promise<void> {
    const now = Date.now
    Date.now = () => now() + offset
    try {
      await action()
    } finally {
      Date.now = now
    }
  }

  it('keeps events for an hour, also one of a client whose clock is slow', async () => {
    await create('slow', { lastTimestamp: '2020-01-01T00:00:00Z' })
    await settled()
    assert.ok(stored('slow'))
    await expires('slow', 1)
  })

  it('deletes an event of a client whose clock is fast at the same time', async () => {
    await create('fast', { lastTimestamp: '2320-01-01T00:00:00Z' })
    await expires('fast', 1)
  })

  it('keeps events when the clock of the server is set forward by ten hours', async () => {
    await create('kept')
    await atClock(10 * 3_600_000, async () => {
      await shard.client.update(events, key('kept'), current => ({ ...current, count: 2 }))
      await settled()
      assert.ok(stored('kept'))
    })
  })

  it('deletes an event of the day before at once', async () => {
    await create('old')
    await atClock(2 * aDay, () => expires('old', 3_600_000))
  })
})
