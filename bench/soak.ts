import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Address, Connection, encodeRequest, openSocket, peerToken } from './tools/connection.ts'
import { exportName, widgetsPath } from './tools/objects.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { withScratch } from './tools/scratch.ts'
import type { Tenants } from './tools/tenants.ts'

/** `SOAK_REQUESTS=10000000` for a soak of hours. */
const requests = Number(process.env.SOAK_REQUESTS ?? 100_000)
const connections = 32
const parts = 5
const objects = 500
/** Names of objects that are created and deleted again. */
const names = 2_000
const mebi = 1024 * 1024

/** What the process holds. */
interface Held {
  /** Live objects and buffers, in bytes. */
  readonly live: number
  /** Timers, sockets, streams and other resources of the event loop. */
  readonly resources: number
  /** Open files. */
  readonly files: number
  /** Series of metrics. */
  readonly series: number
}

const configMap = (name: string): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text: 'x'.repeat(200) } })

const below = (limit: number): number => Math.floor(Math.random() * limit)
const random = (): string => below(2 ** 40).toString(36)

/** The requests of a population: readers, writers, the curious and the broken, with names that never repeat where they can. */
function population({ provider, consumers }: Tenants): readonly (() => Buffer)[] {
  const cluster = (): string => consumers[below(consumers.length)] ?? ''
  const maps = (): string => `/clusters/${cluster()}/api/v1/namespaces/default/configmaps`
  const view = `/services/apiexport/${provider}/${exportName}/clusters`
  const changing = (): string => `/clusters/${consumers[0]}/api/v1/namespaces/default/configmaps`
  const merge = 'application/merge-patch+json'
  const apply = 'application/apply-patch+yaml'
  return [
    () => encodeRequest({ path: `${view}/*${widgetsPath}?limit=20` }),
    () => encodeRequest({ path: `${view}/${cluster()}${widgetsPath}` }),
    () => encodeRequest({ path: maps() }),
    () => encodeRequest({ path: `${maps()}?labelSelector=${random()}%3D${random()}` }),
    () => encodeRequest({ path: `${maps()}?fieldSelector=metadata.name%3D${random()}` }),
    () => encodeRequest({ path: `${maps()}/${random()}` }),
    () => encodeRequest({ path: `/clusters/root:${random()}/api/v1/configmaps` }),
    () => encodeRequest({ path: `/services/${random()}/clusters/*/api/v1/configmaps` }),
    () => encodeRequest({ path: `/clusters/${cluster()}/apis/${random()}.example.com/v1/${random()}` }),
    () => encodeRequest({ path: `/${random()}` }),
    () => encodeRequest({ path: maps(), token: random() }),
    () => encodeRequest({ method: random().toUpperCase().replace(/\d/g, ''), path: maps() }),
    () => encodeRequest({ method: 'POST', path: maps(), body: `{"${random()}` }),
    () => encodeRequest({ method: 'POST', path: `${maps()}?dryRun=All`, body: configMap(random()) }),
    () => encodeRequest({ method: 'POST', path: changing(), body: configMap(`n${below(names)}`) }),
    () => encodeRequest({ method: 'DELETE', path: `${changing()}/n${below(names)}` }),
    () =>
      encodeRequest({
        method: 'PATCH',
        path: `${changing()}/n${below(names)}`,
        contentType: merge,
        body: JSON.stringify({ data: { text: random() } }),
      }),
    () =>
      encodeRequest({
        method: 'PATCH',
        path: `${changing()}/n${below(names)}?fieldManager=m${below(4)}&force=true`,
        contentType: apply,
        body: configMap(`n${below(names)}`).replace(/"name":"[^"]*"/, `"name":"n0"`),
      }),
    () => encodeRequest({ path: '/openapi/v2' }),
    () => encodeRequest({ path: `/clusters/${cluster()}/apis` }),
  ]
}

/** Opens a watch, reads its first bytes, and leaves. */
async function watchAndLeave(address: Address, path: string): Promise<void> {
  const socket = await openSocket(address)
  socket.write(encodeRequest({ path: `${path}?watch=1&resourceVersion=0` }))
  await new Promise(resolve => socket.once('data', resolve))
  socket.destroy()
}

const ask = (connection: Connection, request: Buffer): Promise<number> =>
  new Promise(resolve => connection.ask(request, resolve))

/** Sends one part of the requests over connections that are replaced now and then. */
async function send(address: Address, tenants: Tenants, count: number): Promise<void> {
  const kinds = population(tenants)
  const watched = `/clusters/${tenants.consumers[0]}/api/v1/namespaces/default/configmaps`
  let left = count
  const client = async (): Promise<void> => {
    let connection = await Connection.open(address)
    while (left-- > 0) {
      if (below(200) === 0) await watchAndLeave(address, watched)
      const status = await ask(connection, kinds[below(kinds.length)]?.() ?? Buffer.of())
      if (status >= 500) throw new Error(`a response was ${status}`)
      if (status !== 0 && below(500) > 0) continue
      connection.close()
      connection = await Connection.open(address)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, client))
}

/** Timers, sockets and other resources when nobody is connected: the least of ten values, because sockets are still closing. */
async function idleResources(server: { ask(task: 'resources'): Promise<number> }): Promise<number> {
  const values: number[] = []
  for (let time = 0; time < 10; time++) {
    values.push(await server.ask('resources'))
    await setTimeout(100)
  }
  return Math.min(...values)
}

/** A mixed population sends requests for a long time: what the process holds must not grow. */
export const soak: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    const server = await scratch.oriel({ store: join(scratch.directory, 'store'), tls: true })
    const tenants = await server.ask('tenants', 10)
    await server.ask('fill', { tenants, count: objects })
    const address = await server.ask('address')
    const held: Held[] = []
    for (let part = 0; part < parts; part++) {
      progress(`${(part * requests) / parts} of ${requests} requests`)
      await send(address, tenants, requests / parts)
      await server.ask('forget')
      const { live } = await server.ask('memory')
      const files = (await readdir(`/proc/${server.pid}/fd`)).length
      const connection = await Connection.open(address)
      const { body } = await connection.read({ path: '/metrics', token: peerToken })
      connection.close()
      const series = body
        .toString()
        .split('\n')
        .filter(line => /^[a-z]/.test(line)).length
      held.push({ live, files, series, resources: await idleResources(server) })
      progress(
        `after part ${part + 1} of ${parts}: ${Math.round(live / mebi)} MiB live, ${files} files, ${series} series`,
      )
    }
    return rowsOf(held)
  })

function rowsOf(held: readonly Held[]): readonly Row[] {
  // The first part fills caches.
  const [before, after] = [held[1], held.at(-1)] as [Held, Held]
  const row = (id: keyof Held, measure: string, unit: string, of = (value: number) => value): Row => ({
    id: `soak-${id}`,
    measure: `${measure} after ${requests.toLocaleString('en')} requests`,
    unit,
    value: of(after[id]),
    against: { what: 'after two fifths', value: of(before[id]) },
    target: { atMost: 1.1 },
  })
  return [
    row('live', 'live memory', 'MiB', value => value / mebi),
    row('resources', 'timers and sockets', ''),
    row('files', 'open files', ''),
    row('series', 'series of metrics', ''),
  ]
}
