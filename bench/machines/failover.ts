import type { Client, Stream } from '../../test/support/client.ts'
import type { Oriel } from '../../test/support/oriel.ts'
import { inRoot, numberFrom } from './objects.ts'

/** Servers over one etcd, and a client of each. */
interface Servers {
  readonly servers: readonly Oriel[]
  readonly clients: readonly Client[]
}

const watches = 20
/** SIGKILLs of a server, with 20 watches each. */
const kills = numberFrom('REPLICAS_KILLS', 5)

/** Follows a watch through the end of its server, and returns when its successor at another server has the new object. */
async function follow(lost: Stream, { watch }: Client, query: string): Promise<void> {
  await lost.next().catch(() => undefined)
  lost.leave()
  const next = await watch(query)
  const frame = await next.next()
  next.leave()
  if (frame?.type !== 'ADDED') throw new Error(`the watch got ${JSON.stringify(frame)}`)
}

/** Milliseconds from the SIGKILL of one server to the next event of each of its watches, at another server. */
async function oneKill({ clients, servers }: Servers, round: number): Promise<readonly number[]> {
  const at = round % servers.length
  const [first, second] = [clients[at] as Client, clients[(at + 1) % clients.length] as Client]
  const server = servers[at]
  const { resourceVersion = '' } = (await second(`${inRoot}?limit=1`)).json().metadata
  const query = `${inRoot}?watch=1&resourceVersion=${resourceVersion}`
  const open = await Promise.all(Array.from({ length: watches }, () => first.watch(query)))
  const begin = performance.now()
  const follows = open.map(watch => follow(watch, second, query).then(() => performance.now() - begin))
  const [taken] = await Promise.all([Promise.all(follows), createAfter(server, second, round)])
  await server?.restart()
  return taken
}

/** Kills a server, and creates the object that the watches wait for at another one. */
async function createAfter(server: Oriel | undefined, other: Client, round: number): Promise<void> {
  await server?.kill()
  const body = { metadata: { name: `failover-${round}-${Math.random().toString(36).slice(2)}` } }
  const { status } = await other(inRoot, { method: 'POST', body })
  if (status !== 201) throw new Error(`a CREATE got ${status}`)
}

/** The milliseconds of every watch of all kills. */
export async function failOver(replicas: Servers): Promise<readonly number[]> {
  const taken: number[] = []
  for (let round = 0; round < kills; round++) taken.push(...(await oneKill(replicas, round)))
  return taken
}
