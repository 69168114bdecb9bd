import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Address, Connection } from './tools/connection.ts'
import { exportName, widgetsPath } from './tools/objects.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'
import { median } from './tools/statistics.ts'
import type { Tenants } from './tools/tenants.ts'
import { Watchers } from './watchers.ts'

const watchers = 1_000
const objects = 1_000
/** Events per second; times `watchers`, more than a server can encode for each watcher. */
const fast = 1_000
/** Events per second at which both implementations keep up. */
const slow = 100
const milliseconds = 4_000
const rounds = 3

/** A source of events at a rate, and its watch URL. */
interface Source {
  readonly address: Address
  readonly path: string
  churn(rate: number): Promise<number>
}

const fromNow = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan'
const viewOf = ({ provider }: Tenants): string =>
  `/services/apiexport/${provider}/${exportName}/clusters/*${widgetsPath}`

async function orielSource(scratch: Scratch): Promise<Source & { readonly list: Buffer }> {
  const server = await scratch.oriel()
  const tenants = await server.ask('tenants', 10)
  await server.ask('fill', { tenants, count: objects })
  const address = await server.ask('address')
  const path = viewOf(tenants)
  const connection = await Connection.open(address)
  const { body: list } = await connection.read({ path })
  connection.close()
  const churn = (rate: number): Promise<number> =>
    server.ask('churn', { tenants, objects, rate, milliseconds })
  return { address, churn, list, path: `${path}?${fromNow}` }
}

async function plainSource(scratch: Scratch, list: Buffer): Promise<Source> {
  const plain = await scratch.plain()
  const path = join(scratch.directory, 'list.json')
  await writeFile(path, list)
  await plain.ask('keep', path)
  const churn = (rate: number): Promise<number> => plain.ask('churn', { rate, milliseconds })
  return { address: await plain.ask('address'), path: '/watch', churn }
}

interface Delivered {
  readonly perSecond: number
  readonly p99: number
}

/** The events that arrive at all watchers together. */
async function deliver({ address, path, churn }: Source, rate: number): Promise<Delivered> {
  const open = await Watchers.open(address, path, watchers)
  const begin = performance.now()
  await churn(rate)
  const perSecond = open.events / ((performance.now() - begin) / 1000)
  await open.quiet()
  const { p99 } = open.takeDelays()
  open.close()
  return { perSecond, p99 }
}

interface Series {
  readonly shared: Delivered
  readonly each: Delivered
}

async function compare(oriel: Source, plain: Source, rate: number): Promise<Series> {
  const shared: Delivered[] = []
  const each: Delivered[] = []
  for (let i = 0; i < rounds; i++) {
    shared.push(await deliver(oriel, rate))
    each.push(await deliver(plain, rate))
  }
  const middle = (taken: readonly Delivered[]): Delivered => ({
    perSecond: median(taken.map(({ perSecond }) => perSecond)),
    p99: median(taken.map(({ p99 }) => p99)),
  })
  return { shared: middle(shared), each: middle(each) }
}

/** Many watchers of one resource: the number of events that arrive, and their delay. */
export const watch: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress('filling')
    const oriel = await orielSource(scratch)
    const plain = await plainSource(scratch, oriel.list)
    progress(`${watchers} watchers, ${slow} events/s`)
    const calm = await compare(oriel, plain, slow)
    progress(`${watchers} watchers, ${fast} events/s`)
    const busy = await compare(oriel, plain, fast)
    const what = 'JSON for each watcher'
    return [
      {
        id: 'watch',
        measure: `WATCH, ${watchers} watchers, ${fast} events/s`,
        value: busy.shared.perSecond,
        unit: 'events/s',
        against: { what, value: busy.each.perSecond },
        target: { atLeast: 4 },
      },
      { id: 'watch-delay-busy', measure: 'p99 delay of those', value: busy.shared.p99, unit: 'ms' },
      {
        id: 'watch-delay',
        measure: `p99 delay at ${slow} events/s`,
        value: calm.shared.p99,
        unit: 'ms',
        against: { what, value: calm.each.p99 },
      },
    ] satisfies Row[]
  })
