import type { OrielTasks } from './children/serve.ts'
import type { Child } from './tools/child.ts'
import { type Address, Connection } from './tools/connection.ts'

/** The number of workspaces below `root`, and the children of each. */
export interface Grove {
  readonly count: number
  /** 0: all are children of root. */
  readonly branching: number
}

/** The server, and a function that reports progress. */
export interface Site {
  readonly server: Child<OrielTasks>
  say(text: string): void
}

/** The number of concurrent clients, each with its own connection. */
const atOnce = 128
const pathIn = (cluster: string): string => `/clusters/${cluster}/apis/tenancy.kcp.io/v1alpha1/workspaces`
const nameOf = (index: number): string => `w${index}`
const body = (name: string): string =>
  JSON.stringify({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
    spec: { type: { name: 'universal', path: 'root' } },
  })

/** Sends one request, and fails unless it succeeds. */
type Send = (method: string, path: string, body?: string) => Promise<void>

async function openClient(address: Address): Promise<{ readonly send: Send; close(): void }> {
  const connection = await Connection.open(address)
  return {
    send: async (method, path, body = '') => {
      const answer = await connection.read({ method, path, body })
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
    },
    close: () => connection.close(),
  }
}

/** Runs `work` for 0 … count-1, in this order, with one call per client at a time. Returns the seconds. */
async function share(
  { server }: Site,
  count: number,
  work: (send: Send, index: number) => Promise<void>,
): Promise<number> {
  const address = await server.ask('address')
  const length = Math.min(atOnce, count)
  const clients = await Promise.all(Array.from({ length }, () => openClient(address)))
  const begin = performance.now()
  let next = 0
  const keepWorking = async ({ send, close }: (typeof clients)[number]): Promise<void> => {
    while (next < count) await work(send, next++)
    close()
  }
  await Promise.all(clients.map(keepWorking))
  return (performance.now() - begin) / 1000
}

/**
 * Creates the workspaces over HTTP, parents first; each client waits until its workspace is Ready. Returns the seconds.
 */
export function grow(site: Site, { count, branching }: Grove): Promise<number> {
  const ready = Array.from<Promise<string>>({ length: count })
  let done = 0
  return share(site, count, async (send, index) => {
    ready[index] = site.server.ask('whenReady', nameOf(index))
    const parent = branching === 0 || index < branching ? undefined : Math.floor(index / branching) - 1
    const cluster = parent === undefined ? 'root' : ((await ready[parent]) ?? '')
    await send('POST', pathIn(cluster), body(nameOf(index)))
    await ready[index]
    done += 1
    if (done % 1_000 === 0) site.say(`${done} of ${count} are Ready`)
  })
}

/** Deletes the workspaces that `grow` created, as an administrator would: the children of root. Returns the seconds. */
export async function fell(site: Site, { count, branching }: Grove): Promise<number> {
  const begin = performance.now()
  const tops = branching === 0 ? count : Math.min(branching, count)
  const telling = setInterval(async () => site.say(`${await site.server.ask('count')} are left`), 2_000)
  await share(site, tops, (send, index) => send('DELETE', `${pathIn('root')}/${nameOf(index)}`))
  await site.server.ask('gone')
  clearInterval(telling)
  return (performance.now() - begin) / 1000
}
