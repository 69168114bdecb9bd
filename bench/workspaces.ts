import { join } from 'node:path'
import { type Address, encodeRequest } from './connection.ts'
import { load } from './load.ts'
import type { Benchmark, Row } from './result.ts'
import { type Scratch, withScratch } from './scratch.ts'
import { alternate } from './statistics.ts'

const sizes = [10, 1_000, 10_000] as const
const rounds = 5
const milliseconds = 1_000
const kibi = 1024

/** A server with so many empty workspaces, and one more that is used. */
interface Subject {
  readonly address: Address
  readonly configMaps: string
  readonly rss: number
  readonly live: number
  /** Workspaces that became Ready, per second. */
  readonly rate: number
}

async function open(scratch: Scratch, count: number): Promise<Subject> {
  const server = await scratch.oriel({ store: join(scratch.directory, `store-${count}`) })
  const [cluster] = await server.ask('workspaces', ['used'])
  const before = await server.ask('memory')
  const begin = performance.now()
  await server.ask(
    'workspaces',
    Array.from({ length: count }, (_, i) => `workspace-${i}`),
  )
  const rate = count / ((performance.now() - begin) / 1000)
  const after = await server.ask('memory')
  const address = await server.ask('address')
  const configMaps = `/clusters/${cluster}/api/v1/namespaces/default/configmaps`
  return {
    address,
    configMaps,
    rss: (after.rss - before.rss) / count,
    live: (after.live - before.live) / count,
    rate,
  }
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

/** Milliseconds of one request, the median of what one client sees. */
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

/** What empty workspaces cost, and what they do to requests in another one. */
export const workspaces: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    const subjects: Subject[] = []
    for (const count of sizes) {
      progress(`${count} workspaces`)
      subjects.push(await open(scratch, count))
    }
    const [, thousand, most] = subjects as [Subject, Subject, Subject]
    progress('requests in one of them')
    const rows: Row[] = []
    for (const verb of ['GET', 'LIST', 'CREATE'] as const) rows.push(...(await compare(verb, subjects)))
    return [
      {
        id: 'workspace-memory-1000',
        measure: 'memory of an empty workspace, 1,000',
        value: thousand.rss / kibi,
        unit: 'KiB',
      },
      {
        id: 'workspace-memory',
        measure: 'memory of an empty workspace, 10,000',
        value: most.rss / kibi,
        unit: 'KiB',
        target: { atMost: 32 },
      },
      {
        id: 'workspace-memory-live',
        measure: 'of which live objects and buffers',
        value: most.live / kibi,
        unit: 'KiB',
      },
      { id: 'workspace-rate', measure: 'workspaces to Ready, at 10,000', value: most.rate, unit: '/s' },
      ...rows,
    ]
  })
