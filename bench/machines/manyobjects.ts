import { join } from 'node:path'
import { type Address, encodeRequest } from '../tools/connection.ts'
import { type Load, load } from '../tools/load.ts'
import { widgetsIn } from '../tools/objects.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { type Scratch, withScratch } from '../tools/scratch.ts'
import type { Tenants } from '../tools/tenants.ts'

/** `MANY_OBJECTS=100000`: the large number. */
const many = Number(process.env.MANY_OBJECTS ?? 1_000_000)
const few = many / 100
const consumers = 100
/** One connection that asks again after the response: the time of a request, not of the queue before it. */
const asking = { connections: 1, milliseconds: 10_000 } as const

/** A server with this many objects that it has read from its directory. */
interface Measured {
  /** Seconds from the start of the process until it serves. */
  readonly seconds: number
  /** Bytes without mapped files. */
  readonly memory: number
  readonly get: Load
}

/** GETs of objects that are spread over all workspaces. */
function getsOf(address: Address, tenants: Tenants, count: number): Promise<Load> {
  let next = 0
  const request = (): Buffer => {
    // A prime: neighbors in the order of requests are no neighbors in memory.
    const i = (next++ * 7_919) % count
    const cluster = tenants.consumers[i % tenants.consumers.length]
    return encodeRequest({ path: `/clusters/${cluster}${widgetsIn('default')}/widget-${i}` })
  }
  return load(address, { ...asking, request })
}

async function measure(scratch: Scratch, count: number): Promise<Measured> {
  const store = join(scratch.directory, `with-${count}`)
  const filling = await scratch.oriel({ store })
  const tenants = await filling.ask('tenants', consumers)
  await filling.ask('fill', { tenants, count })
  await filling.stop()
  const begin = performance.now()
  const server = await scratch.oriel({ store, tls: true })
  const seconds = (performance.now() - begin) / 1_000
  const address = await server.ask('address')
  const get = await getsOf(address, tenants, count)
  const { own } = await server.ask('memory')
  await server.stop()
  return { seconds, memory: own, get }
}

function rowsOf(large: Measured, small: Measured): readonly Row[] {
  const [more, than] = [many - few, `with ${few.toLocaleString('en')}`]
  const row = (id: string, measure: string, unit: string, of: (measured: Measured) => number): Row => ({
    id: `many-objects-${id}`,
    measure: `${measure} with ${many.toLocaleString('en')} objects`,
    unit,
    value: of(large),
    against: { what: than, value: of(small) },
  })
  return [
    row('start', 'start until it serves', 's', ({ seconds }) => seconds),
    row('memory', 'memory', 'MiB', ({ memory }) => memory / 1_024 ** 2),
    row('get-p50', 'p50 of a GET over TLS', 'ms', ({ get }) => get.p50),
    row('get-p99', 'p99 of a GET over TLS', 'ms', ({ get }) => get.p99),
    {
      id: 'many-objects-each',
      measure: 'memory of each further object of 1 KiB',
      unit: 'bytes',
      value: (large.memory - small.memory) / more,
    },
    {
      id: 'many-objects-start-each',
      measure: 'time of the start for each further object',
      unit: 'µs',
      value: ((large.seconds - small.seconds) / more) * 1e6,
    },
  ]
}

/** 1,000,000 objects in one process, against a hundredth: start, memory, and a GET. */
export const manyObjects: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress(`${few} objects`)
    const small = await measure(scratch, few)
    progress(`${many} objects`)
    return rowsOf(await measure(scratch, many), small)
  })
