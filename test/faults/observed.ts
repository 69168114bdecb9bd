import type { Client } from '../support/client.ts'
import { eventually } from '../support/oriel.ts'
import { type Crowd, createObjects, readAll, useObjects, watchObjects } from './clients.ts'
import { checkHistory, History } from './history.ts'

const crowdSize = 6

/**
 * Clients write, read and watch through all servers while `disturb` runs. Throws when an acknowledged write is lost, a read goes
 * back, or a watch loses or repeats an event. `disturb` may replace clients.
 */
export async function observe(
  clients: readonly Client[],
  disturb: (history: History) => Promise<void>,
): Promise<History> {
  const client = clients[0] as Client
  const namespace = () => client('/clusters/root/api/v1/namespaces/default')
  await eventually(namespace, ({ status }) => status === 200)
  const version = await createObjects(client)
  const history = new History()
  const [stop, unwatch] = [new AbortController(), new AbortController()]
  const crowd: Crowd = { clients, history, stop: stop.signal }
  const watching = { ...crowd, stop: unwatch.signal }
  try {
    const watches = Promise.all(clients.map((_, first) => watchObjects(watching, version, first)))
    const uses = Promise.all(Array.from({ length: crowdSize }, (_, i) => useObjects(crowd, i)))
    await Promise.race([disturb(history), uses, watches])
    stop.abort()
    await uses
    await readAll(crowd)
    const haveAll = async () => history.watches.every(watch => (watch.at(-1)?.version ?? 0) >= history.newest)
    await Promise.race([watches, eventually(haveAll, all => all)])
    unwatch.abort()
    await watches
    checkHistory(history)
    return history
  } finally {
    stop.abort()
    unwatch.abort()
  }
}

/** Resolves after this many more acknowledged writes. */
export async function moreWrites(history: History, count: number): Promise<void> {
  const before = history.acknowledged.length
  await eventually(
    async () => history.acknowledged.length - before,
    more => more >= count,
  )
}
