import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Address, Connection, encodeRequest } from './tools/connection.ts'
import { load } from './tools/load.ts'
import { exportName, widgetsIn, widgetsPath } from './tools/objects.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'
import { alternate, median } from './tools/statistics.ts'
import type { Tenants } from './tools/tenants.ts'

const objects = 10_000
const clusters = 1_000
const pullers = 2
const milliseconds = 2_000
const rounds = 5

/** A server with widgets, and node:http with the same list. */
interface Subject {
  readonly tenants: Tenants
  readonly oriel: Address
  readonly plain: Address
  /** Of one list. */
  readonly bytes: number
}

const viewOf = ({ provider }: Tenants): string =>
  `/services/apiexport/${provider}/${exportName}/clusters/*${widgetsPath}`
const relabelingOf = ({ identity }: Tenants): string =>
  `/services/relabeling/${identity}/clusters/*${widgetsPath}`

async function open(scratch: Scratch, tls: boolean): Promise<Omit<Subject, 'plain'> & { path: string }> {
  const server = await scratch.oriel({ tls })
  const tenants = await server.ask('tenants', clusters)
  await server.ask('fill', { tenants, count: objects })
  const oriel = await server.ask('address')
  const connection = await Connection.open(oriel)
  const { body } = await connection.read({ path: viewOf(tenants) })
  connection.close()
  const path = join(scratch.directory, 'list.json')
  await writeFile(path, body)
  return { tenants, oriel, path, bytes: body.length }
}

async function withPlain(scratch: Scratch): Promise<Subject> {
  const { path, ...opened } = await open(scratch, false)
  const plain = await scratch.plain()
  const kept = await plain.ask('keep', path)
  if (kept !== objects) throw new Error(`the list has ${kept} items`)
  await plain.ask('answer', { path, headers: { 'content-type': 'application/json' } })
  return { ...opened, plain: await plain.ask('address') }
}

/** Objects per second that two clients get. */
async function pull(address: Address, path: string): Promise<number> {
  const request = encodeRequest({ path })
  const { perSecond } = await load(address, { connections: pullers, milliseconds, request: () => request })
  return perSecond * objects
}

async function throughput({ tenants, oriel, plain, bytes }: Subject): Promise<readonly Row[]> {
  const rates = await alternate(rounds, {
    prebuilt: () => pull(plain, '/'),
    view: () => pull(oriel, viewOf(tenants)),
    rewritten: () => pull(oriel, relabelingOf(tenants)),
    parsed: () => pull(plain, '/rewrite'),
  })
  return [
    {
      id: 'list',
      measure: `LIST of ${objects} objects through the view`,
      value: rates.view,
      unit: 'objects/s',
      against: { what: 'node:http, one prebuilt buffer', value: rates.prebuilt },
      target: { atLeast: 0.6 },
    },
    {
      id: 'list-bytes',
      measure: 'the same in bytes',
      value: ((rates.view / objects) * bytes) / 1e6,
      unit: 'MB/s',
    },
    {
      id: 'list-rewritten',
      measure: 'LIST, one annotation rewritten',
      value: rates.rewritten,
      unit: 'objects/s',
      against: { what: 'parse, change, stringify each', value: rates.parsed },
      target: { atLeast: 6 },
    },
  ]
}

/** The p99 of the response times of a client that reads single objects, in milliseconds. */
async function responseTime({ tenants, oriel }: Subject): Promise<number> {
  const path = `/clusters/${tenants.consumers[0]}${widgetsIn('default')}/widget-0`
  const request = encodeRequest({ path })
  return (await load(oriel, { connections: 4, milliseconds, rest: 2, request: () => request })).p99
}

async function fairness(scratch: Scratch, subject: Subject): Promise<Row> {
  const puller = await scratch.puller(subject.oriel)
  const path = viewOf(subject.tenants)
  const disturbed = async (): Promise<number> => {
    const pulling = puller.ask('pull', { path, connections: pullers, milliseconds: milliseconds + 500 })
    const p99 = await responseTime(subject)
    await pulling
    return p99
  }
  const p99 = await alternate(rounds, { idle: () => responseTime(subject), disturbed })
  await puller.stop()
  return {
    id: 'list-fairness',
    measure: 'p99 of a small GET while two clients pull lists',
    value: p99.disturbed,
    unit: 'ms',
    against: { what: 'idle', value: p99.idle },
    target: { atMost: 10 },
  }
}

/**
 * Large lists over many logical clusters: bytes that are forwarded, bytes that are rewritten, and the response time of
 * other clients.
 */
export const list: Benchmark = async ({ progress }) => {
  const rows = await withScratch(async scratch => {
    progress(`${clusters} workspaces that bind an export, ${objects} objects`)
    const subject = await withPlain(scratch)
    progress('pulling')
    const pulled = await throughput(subject)
    progress('waiting')
    return [...pulled, await fairness(scratch, subject)]
  })
  const secure = await withScratch(async scratch => {
    progress('the same over TLS')
    const { oriel, tenants } = await open(scratch, true)
    const taken: number[] = []
    for (let i = 0; i < 3; i++) taken.push(await pull(oriel, viewOf(tenants)))
    return median(taken)
  })
  return [...rows, { id: 'list-tls', measure: 'LIST over TLS', value: secure, unit: 'objects/s' }]
}
