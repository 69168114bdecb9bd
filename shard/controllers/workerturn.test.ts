import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { silent } from '../../framework/contract/log.ts'
import { itemOf } from '../../framework/index.ts'
import { resources } from '../../kcp/resources.ts'
import type { ControllerClient } from './client.ts'
import { createQueue } from './queue.ts'
import { deleteContent } from './remaining.ts'

const cluster = 'c1'
const { configMaps, secrets } = resources

describe('the turn of a worker', () => {
  let now = 0
  beforeEach(() => {
    now = performance.now()
    mock.method(performance, 'now', () => now)
  })
  afterEach(() => mock.restoreAll())

  /** A client of so many objects of each resource; each deletion takes a second. */
  function clientOf(count: number) {
    const names = (resource: string) => Array.from({ length: count }, (_, i) => `${resource}-${i}`)
    const left = new Set([configMaps, secrets].flatMap(({ resource }) => names(resource)))
    const client = {
      list: async ({ resource }: { resource: string }) =>
        [...left]
          .filter(name => name.startsWith(resource))
          .map(name => itemOf({ apiVersion: 'v1', kind: 'Any', metadata: { name } }, cluster)),
      delete: async (_ref: unknown, { name }: { name: string }) => {
        now += 1_000
        left.delete(name)
      },
    } as unknown as ControllerClient
    return { client, left }
  }

  it('ends between objects that are deleted, and the next one goes on', async () => {
    const { client, left } = clientOf(200)
    const refs = [configMaps, secrets]
    const turns: number[] = []
    for (let unfinished: boolean | undefined = true; unfinished; turns.push(left.size))
      unfinished = (await deleteContent(client, cluster, refs)).isUnfinished
    assert.equal(left.size, 0)
    assert.ok(turns.length > 3, `${turns}`)
  })

  it('does not end before something is done', async () => {
    const { client } = clientOf(0)
    const list: ControllerClient['list'] = async (...args) => {
      now += 10_000
      return client.list(...args)
    }
    const remaining = await deleteContent({ ...client, list }, cluster, [configMaps, secrets])
    assert.deepEqual([remaining.isUnfinished, remaining.instances.size], [undefined, 0])
  })

  it('is followed by those of other keys', async () => {
    const stop = new AbortController()
    const runs: string[] = []
    const queue = createQueue({
      name: 't',
      log: silent,
      concurrency: 1,
      reconcile: async key => {
        runs.push(key)
        if (key === 'a|x' && runs.filter(run => run === key).length < 3) queue.addAfter(key, 0)
      },
    })
    for (const key of ['a|x', 'b|x', 'c|x']) queue.add(key)
    const running = queue.run(stop.signal)
    await queue.idle()
    stop.abort()
    await running
    assert.deepEqual(runs, ['a|x', 'b|x', 'c|x', 'a|x', 'a|x'])
  })
})
