import type { Client } from '../../test/support/client.ts'
import { eventually, type Oriel } from '../../test/support/oriel.ts'
import { inRoot, numberFrom } from './objects.ts'

/** Servers over one etcd, and a client of each. */
interface Servers {
  readonly servers: readonly Oriel[]
  readonly clients: readonly Client[]
}

const watches = 20
/** SIGKILLs of a server, with 20 watches each. */
const kills = numberFrom('REPLICAS_KILLS', 5)

/** Follows one watch through the end of its server, and returns when it has the named object. */
async function follow([first, second]: readonly [Client, Client], version: string): Promise<void> {
  const query = `${inRoot}?watch=1&resourceVersion=${version}`
  const lost = await first.watch(query)
  await lost.next().catch(() => undefined)
  lost.leave()
  const next = await second.watch(query)
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
  let begin = 0
  const follows = Array.from({ length: watches }, () =>
    follow([first, second], resourceVersion).then(() => performance.now() - begin),
  )
  await eventually(
    () =>
      first('/metrics').then(
        ({ text }) => text,
        () => '',
      ),
    text =>
      Number(/^apiserver_longrunning_requests\{[^\n]*resource="configmaps"[^\n]* (\d+)$/m.exec(text)?.[1]) >=
      watches,
  )
  begin = performance.now()
  await server?.kill()
  const body = { metadata: { name: `failover-${round}-${Math.random().toString(36).slice(2)}` } }
  const { status } = await second(inRoot, { method: 'POST', body })
  if (status !== 201) throw new Error(`a CREATE got ${status}`)
  const taken = await Promise.all(follows)
  await server?.restart()
  return taken
}

/** The milliseconds of every watch of all kills. */
export async function failOver(replicas: Servers): Promise<readonly number[]> {
  const taken: number[] = []
  for (let round = 0; round < kills; round++) taken.push(...(await oneKill(replicas, round)))
  return taken
}
