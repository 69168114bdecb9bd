import { type Client, clientOf } from '../test/support/client.ts'
import { discard, eventually, startOriel } from '../test/support/oriel.ts'
import { startReplicas } from '../test/support/servers/replicas.ts'
import { configAt } from '../test/support/watcher.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { alternate, median } from './tools/statistics.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'
const connections = 32
const milliseconds = 3_000
const rounds = 3
const servers = 3
const failovers = 10

/** Servers with the same objects. */
interface Subject {
  readonly clients: readonly Client[]
  close(): Promise<void>
}

async function embedded(): Promise<Subject> {
  const oriel = await startOriel()
  const client = await clientOf(configAt(oriel, oriel.url))
  return { clients: [client], close: () => discard(oriel) }
}

async function ready({ clients: [client] }: Subject): Promise<void> {
  if (client === undefined) return
  const namespace = () => client('/clusters/root/api/v1/namespaces/default')
  await eventually(namespace, ({ status }) => status === 200)
  await client(path, { method: 'POST', body: { metadata: { name: 'read' }, data: { a: 'x'.repeat(1_000) } } })
}

/** Requests per second by 32 clients, which use the servers in turn. */
async function rate(
  { clients }: Subject,
  ask: (client: Client, n: number) => Promise<number>,
): Promise<number> {
  const begin = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      while (performance.now() - begin < milliseconds) {
        const status = await ask(clients[i % clients.length] as Client, count++)
        if (status >= 300) throw new Error(`an answer was ${status}`)
      }
    }),
  )
  return (count / (performance.now() - begin)) * 1_000
}

const reads = (subject: Subject): Promise<number> =>
  rate(subject, async client => (await client(`${path}/read`)).status)

const writes = (subject: Subject): Promise<number> => {
  const run = Math.random().toString(36).slice(2)
  return rate(subject, async (client, n) => {
    const body = { metadata: { name: `w-${run}-${n}` }, data: { a: 'x'.repeat(1_000) } }
    return (await client(path, { method: 'POST', body })).status
  })
}

/** Milliseconds from the loss of a watch to the first event of its continuation at another server. */
async function failover({ clients }: Subject, round: number): Promise<number> {
  const [first, second] = [clients[round % servers] as Client, clients[(round + 1) % servers] as Client]
  const { resourceVersion = '' } = (await first(`${path}/read`)).json().metadata
  const query = `?watch=1&resourceVersion=${resourceVersion}`
  const lost = await first.watch(path + query)
  const name = `failover-${round}-${Math.random().toString(36).slice(2)}`
  await second(path, { method: 'POST', body: { metadata: { name } } })
  await lost.next()
  const begin = performance.now()
  lost.leave()
  const next = await second.watch(path + query)
  await next.next()
  next.leave()
  return performance.now() - begin
}

async function memory({ clients }: Subject): Promise<number> {
  const sizes = await Promise.all(
    clients.map(async client => {
      const { text } = await client('/metrics')
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? Number.NaN)
    }),
  )
  return median(sizes) / 2 ** 20
}

async function rowsOf(file: Subject, one: Subject, three: Subject): Promise<readonly Row[]> {
  const read = await alternate(rounds, {
    file: () => reads(file),
    one: () => reads(one),
    three: () => reads(three),
  })
  const written = await alternate(rounds, {
    file: () => writes(file),
    one: () => writes(one),
    three: () => writes(three),
  })
  const moved: number[] = []
  for (let round = 0; round < failovers; round++) moved.push(await failover(three, round))
  const [inFile, inEtcd] = [await memory(file), await memory(three)]
  const ofOne = 'one server in a directory'
  const row = (
    id: string,
    measure: string,
    [value, other]: readonly [number, number],
    what: string,
  ): Row => ({
    ...{ id, measure, value, unit: '/s' },
    against: { what, value: other },
  })
  return [
    row('etcd-read', 'GET, one server over etcd', [read.one, read.file], ofOne),
    row('etcd-reads', 'GET, three servers over etcd', [read.three, read.one], 'one over etcd'),
    row('etcd-write', 'CREATE, one server over etcd', [written.one, written.file], ofOne),
    row('etcd-writes', 'CREATE, three servers over etcd', [written.three, written.one], 'one over etcd'),
    { id: 'etcd-failover', measure: 'a watch continues at another server', value: median(moved), unit: 'ms' },
    {
      ...{ id: 'etcd-memory', measure: 'memory of each of three servers', value: inEtcd, unit: 'MiB' },
      against: { what: ofOne, value: inFile },
    },
  ]
}

/** One and three servers over one etcd, against one over a directory. All share the cores of this machine, with etcd. */
export const replicas: Benchmark = async ({ progress }) => {
  const subjects: Subject[] = []
  try {
    for (const start of [embedded, () => startReplicas(1), () => startReplicas(servers)]) {
      progress(`starting, ${subjects.length + 1} of 3`)
      const subject = await start()
      subjects.push(subject)
      await ready(subject)
    }
    progress('reads and writes')
    const [file, one, three] = subjects as [Subject, Subject, Subject]
    return await rowsOf(file, one, three)
  } finally {
    await Promise.all(subjects.map(subject => subject.close()))
  }
}
