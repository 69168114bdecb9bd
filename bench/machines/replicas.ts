import { type Client, clientOf } from '../../test/support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../test/support/oriel.ts'
import { startReplicas } from '../../test/support/servers/replicas.ts'
import { configAt } from '../../test/support/watcher.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import { alternate, median, percentile } from '../tools/statistics.ts'
import { failOver } from './failover.ts'
import { fanOut } from './fanout.ts'
import { inRoot as path } from './objects.ts'

const connections = 32
const milliseconds = 3_000
const rounds = 3
const servers = 3

/** Servers with the same objects. */
interface Subject {
  readonly servers: readonly Oriel[]
  readonly clients: readonly Client[]
  close(): Promise<void>
}

async function embedded(): Promise<Subject> {
  const oriel = await startOriel()
  const client = await clientOf(configAt(oriel, oriel.url))
  return { servers: [oriel], clients: [client], close: () => discard(oriel) }
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

async function memory({ clients }: Subject): Promise<number> {
  const sizes = await Promise.all(
    clients.map(async client => {
      const { text } = await client('/metrics')
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? Number.NaN)
    }),
  )
  return median(sizes) / 2 ** 20
}

/** Every measurement for one server in a directory, and one and three over etcd. */
type Rates = Readonly<Record<'file' | 'one' | 'three', number>>

const ofOne = 'one server in a directory'

const row = (id: string, measure: string, [value, other]: readonly [number, number], what: string): Row => ({
  id,
  measure,
  value,
  unit: '/s',
  against: { what, value: other },
})

function rowsOf(read: Rates, written: Rates, fans: Rates): readonly Row[] {
  const [one, three] = ['one server over etcd', 'three servers over etcd']
  return [
    row('etcd-read', `GET, ${one}`, [read.one, read.file], ofOne),
    row('etcd-reads', `GET, ${three}`, [read.three, read.one], 'one over etcd'),
    row('etcd-write', `CREATE, ${one}`, [written.one, written.file], ofOne),
    row('etcd-writes', `CREATE, ${three}`, [written.three, written.one], 'one over etcd'),
    row('etcd-fan', `events at all watchers, ${one}`, [fans.one, fans.file], ofOne),
    row('etcd-fans', `events at all watchers, ${three}`, [fans.three, fans.one], 'one over etcd'),
  ]
}

function failoverRows(taken: readonly number[]): readonly Row[] {
  const measure = 'from the SIGKILL of a server to the next event of its watches at another one'
  return [
    { id: 'etcd-failover', measure: `${measure}, p50`, value: median(taken), unit: 'ms' },
    {
      id: 'etcd-failover-p99',
      measure: `${measure}, p99`,
      value: percentile(taken, 0.99),
      unit: 'ms',
      target: { atMost: 2_000 },
    },
  ]
}

async function measure(
  { file, one, three }: Readonly<Record<keyof Rates, Subject>>,
  directory: string,
  say: (text: string) => void,
): Promise<readonly Row[]> {
  const each = (work: (subject: Subject) => Promise<number>): Promise<Rates> =>
    alternate(rounds, { file: () => work(file), one: () => work(one), three: () => work(three) })
  say('reads')
  const read = await each(reads)
  say('writes')
  const written = await each(writes)
  say('events')
  const fans = await each(({ servers: all, clients }) => fanOut(directory, all, clients))
  const memories = [await memory(file), await memory(three)] as const
  say('killing servers')
  const moved = await failOver(three)
  return [
    ...rowsOf(read, written, fans),
    ...failoverRows(moved),
    {
      id: 'etcd-memory',
      measure: 'memory of each of three servers',
      value: memories[1],
      unit: 'MiB',
      against: { what: ofOne, value: memories[0] },
    },
  ]
}

/**
 * One and three servers over one etcd, against one over a directory. All share the cores of this machine, with etcd. Needs Go.
 * `REPLICAS_WATCHERS` (300), `REPLICAS_KILLS` (5).
 */
export const replicas: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const subjects: Subject[] = []
    const open = async (start: () => Promise<Subject>): Promise<Subject> => {
      progress(`starting, ${subjects.length + 1} of 3`)
      const subject = await start()
      subjects.push(subject)
      await ready(subject)
      return subject
    }
    try {
      const file = await open(embedded)
      const one = await open(() => startReplicas(1))
      const three = await open(() => startReplicas(servers))
      return await measure({ file, one, three }, directory, progress)
    } finally {
      await Promise.all(subjects.map(subject => subject.close()))
    }
  })
