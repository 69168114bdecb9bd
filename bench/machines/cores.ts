import { startEtcd } from '../../test/support/servers/etcd.ts'
import { Loader, type Target, targetOf } from '../outside/loader.ts'
import { thisCheckout, withOriel } from '../outside/server.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import { creates, gets, inRoot, numberFrom, whenReady } from './objects.ts'
import { memoryOf } from './processes.ts'

const sizes = [1, 2, 4] as const
const count = numberFrom('CORES_REQUESTS', 4_000)

/** What one server with some processes took. */
interface Measured {
  /** Requests per second. */
  readonly get: number
  readonly create: number
  /** MiB of all its processes, after the requests. */
  readonly memory: number
}

async function measured(loader: Loader, target: Target, pid: number): Promise<Measured> {
  await whenReady(loader, target, inRoot)
  const create = await loader.run({ target, requests: creates(inRoot, 'cores', count) })
  const get = await loader.run({ target, requests: gets(inRoot, 'cores', count) })
  return { create: count / create.seconds, get: (3 * count) / get.seconds, memory: await memoryOf(pid) }
}

const measures = [
  ['create', 'CREATE, 64 connections', '/s'],
  ['get', 'GET, 64 connections', '/s'],
  ['memory', 'memory of all processes', 'MiB'],
] as const

const rowsOf = (store: string, size: number, value: Measured, one: Measured): readonly Row[] =>
  measures.map(([id, measure, unit]) => ({
    id: `cores-${store}-${size}-${id}`,
    measure: `${measure}: --replicas ${size}, ${store}`,
    value: value[id],
    unit,
    against: { what: 'one process', value: one[id] },
  }))

/** One port with 1, 2 and 4 processes, over a directory and over etcd. Needs Go. `CORES_REQUESTS`: CREATEs of each (4,000). */
export const cores: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const loader = new Loader(directory)
    const rows: Row[] = []
    for (const store of ['directory', 'etcd']) {
      const taken: Measured[] = []
      for (const size of sizes) {
        progress(`${store}, ${size} of 4`)
        const etcd = store === 'etcd' ? await startEtcd() : undefined
        const place = etcd === undefined ? [] : ['--store', `etcd://${etcd.endpoint}`]
        const flags = [...place, ...(size === 1 ? [] : ['--replicas', String(size)])]
        const measure = await withOriel(
          thisCheckout,
          directory,
          side => measured(loader, targetOf(side), side.pid),
          flags,
        )
        await etcd?.stop()
        taken.push(measure)
      }
      const [one, ...more] = taken as [Measured, ...Measured[]]
      rows.push(...more.flatMap((each, i) => rowsOf(store, sizes[i + 1] ?? 0, each, one)))
    }
    await loader.stop()
    return rows
  })
