import { join } from 'node:path'
import { type Address, encodeRequest } from './tools/connection.ts'
import { load } from './tools/load.ts'
import type { Memory } from './tools/memory.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'
import { alternate } from './tools/statistics.ts'

const sizes = [10, 1_000, 10_000] as const
const rounds = 5
const milliseconds = 1_000
const kibi = 1024

/** A server with this many empty workspaces, and one that is used. */
interface Subject {
  readonly address: Address
  readonly configMaps: string
  /** Bytes per workspace in the process that created them, including their events. */
  readonly made: number
  /** Bytes in a process that loaded them, without their events. */
  readonly found: Memory
  /** Workspaces that became Ready, per second. */
  readonly rate: number
}

async function open(scratch: Scratch, count: number): Promise<Subject> {
  const store = join(scratch.directory, `store-${count}`)
  const first = await scratch.oriel({ store })
  const [cluster] = await first.ask('workspaces', ['used'])
  const before = await first.ask('memory')
  const names = Array.from({ length: count }, (_, i) => `workspace-${i}`)
  const begin = performance.now()
  await first.ask('workspaces', names)
  const rate = count / ((performance.now() - begin) / 1000)
  const after = await first.ask('memory')
  await first.ask('compact')
  await first.stop()
  const server = await scratch.oriel({ store })
  const configMaps = `/clusters/${cluster}/api/v1/namespaces/default/configmaps`
  const made = (after.rss - before.rss) / count
  return { address: await server.ask('address'), configMaps, made, found: await server.ask('memory'), rate }
}

let created = 0

const requests = {
  GET: ({ configMaps }: Subject) => encodeRequest({ path: `${configMaps}/kube-root-ca.crt` }),
  LIST: ({ configMaps }: Subject) => encodeRequest({ path: `${configMaps}?limit=5` }),
  CREATE: ({ configMaps }: Subject) => {
    const name = `created-${created++}`
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })
    return encodeRequest({ method: 'POST', path: configMaps, body })
  },
}
type Verb = keyof typeof requests

/** Milliseconds of one request: the median of one client. */
async function time(subject: Subject, verb: Verb): Promise<number> {
  const options = { connections: 1, milliseconds, status: verb === 'CREATE' ? 201 : 200 }
  return (await load(subject.address, { ...options, request: () => requests[verb](subject) })).p50
}

async function compare(verb: Verb, subjects: readonly Subject[]): Promise<readonly Row[]> {
  const [ten, thousand, most] = subjects as [Subject, Subject, Subject]
  const taken = await alternate(rounds, {
    ten: () => time(ten, verb),
    thousand: () => time(thousand, verb),
    most: () => time(most, verb),
  })
  const against = { what: 'of 10', value: taken.ten }
  const rowOf = (count: number, value: number): Row => ({
    id: `workspaces-${verb.toLowerCase()}-${count}`,
    measure: `${verb} in one of ${count.toLocaleString('en')} workspaces`,
    value,
    unit: 'ms',
    against,
    target: { atMost: 1.2 },
  })
  return [rowOf(sizes[1], taken.thousand), rowOf(sizes[2], taken.most)]
}

/** The cost of empty workspaces, and their effect on requests in another one. */
export const workspaces: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    const subjects: Subject[] = []
    for (const count of sizes) {
      progress(`${count} workspaces`)
      subjects.push(await open(scratch, count))
    }
    progress('requests in one of them')
    const rows: Row[] = []
    for (const verb of ['GET', 'LIST', 'CREATE'] as const) rows.push(...(await compare(verb, subjects)))
    return [...memoryRows(subjects), ...rows]
  })

function memoryRows(subjects: readonly Subject[]): readonly Row[] {
  const [ten, thousand, most] = subjects as [Subject, Subject, Subject]
  const each = (subject: Subject, count: number, what: keyof Memory): number =>
    (subject.found[what] - ten.found[what]) / (count - sizes[0]) / kibi
  const row = (id: string, measure: string, value: number): Row => ({ id, measure, value, unit: 'KiB' })
  const target = { atMost: 32 }
  return [
    row('workspace-memory-1000', 'memory of each of 1,000 empty workspaces', each(thousand, sizes[1], 'own')),
    { ...row('workspace-memory', 'memory of each of 10,000', each(most, sizes[2], 'own')), target },
    row('workspace-memory-live', 'of which live objects and buffers', each(most, sizes[2], 'live')),
    row('workspace-memory-rss', 'with mapped pages of the store', each(most, sizes[2], 'rss')),
    row('workspace-memory-made', 'the same in the process that made them', most.made / kibi),
    { id: 'workspace-rate', measure: 'workspaces to Ready, 10,000', value: most.rate, unit: '/s' },
  ]
}
