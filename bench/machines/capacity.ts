import { type Etcd, startEtcd } from '../../test/support/servers/etcd.ts'
import { Loader, type Target, targetOf } from '../outside/loader.ts'
import { workspace } from '../outside/measures.ts'
import { thisCheckout, withOriel } from '../outside/server.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import { creates, inRoot, numberFrom, whenReady } from './objects.ts'
import { memoryOf } from './processes.ts'

const workspaces = numberFrom('CAPACITY_WORKSPACES', 1_000)
const objects = numberFrom('CAPACITY_OBJECTS', 100_000)
const kibi = 1024

const collection = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'

/** Empty workspaces, each Ready. */
const makeWorkspaces = (loader: Loader, target: Target, name: string, count: number) =>
  loader.run({
    target,
    requests: {
      method: 'POST',
      paths: [collection],
      body: workspace(`${name}%d`),
      contentType: 'application/json',
      workers: 16,
      count,
      until: `${collection}/${name}%d`,
      untilHas: '"phase":"Ready"',
    },
  })

/** Bytes of etcd's database without history and free pages. */
async function bytesIn(etcd: Etcd): Promise<number> {
  const { header } = (await etcd.post('kv/range', { key: 'AA==' })) as { header: { revision: string } }
  await etcd.post('kv/compaction', { revision: header.revision, physical: true })
  await etcd.post('maintenance/defragment', {})
  const { dbSizeInUse } = await etcd.post('maintenance/status', {})
  return Number(dbSizeInUse)
}

interface Filled {
  /** Bytes for each of a tenth of the workspaces, and for each of all. */
  readonly few: number
  readonly many: number
}

/** Waits until the controllers have written all that belongs to the workspaces: the size does not change any more. */
async function settled(etcd: Etcd): Promise<number> {
  for (let before = 0; ; ) {
    const size = await bytesIn(etcd)
    if (size === before) return size
    before = size
    await new Promise(resolve => setTimeout(resolve, 2_000))
  }
}

async function fill(loader: Loader, target: Target, etcd: Etcd): Promise<Filled> {
  await whenReady(loader, target, inRoot)
  const few = Math.ceil(workspaces / 10)
  const empty = await settled(etcd)
  await makeWorkspaces(loader, target, 'few', few)
  const small = await settled(etcd)
  await makeWorkspaces(loader, target, 'many', workspaces - few)
  const large = await settled(etcd)
  return { few: (small - empty) / few, many: (large - empty) / workspaces }
}

/** A server that joins an installation. */
interface Joined {
  /** Seconds from its start until it serves. */
  readonly seconds: number
  /** MiB. */
  readonly memory: number
}

const join = async (directory: string, flags: readonly string[]): Promise<Joined> => {
  const begin = performance.now()
  return withOriel(
    thisCheckout,
    directory,
    async ({ pid }) => ({ seconds: (performance.now() - begin) / 1_000, memory: await memoryOf(pid) }),
    flags,
  )
}

const atSize = (count: number): string => count.toLocaleString('en')

function rowsOf({ few, many }: Filled, before: Joined, after: Joined): readonly Row[] {
  const bytes = `bytes of etcd for each of ${atSize(workspaces)} empty workspaces`
  const against = { what: 'without the objects', value: before.seconds }
  const joins = `a server joins an installation with ${atSize(objects)} objects of 1 KiB`
  return [
    {
      id: 'capacity-etcd',
      measure: bytes,
      value: many / kibi,
      unit: 'KiB',
      against: { what: `for each of ${atSize(Math.ceil(workspaces / 10))}`, value: few / kibi },
    },
    { id: 'capacity-join', measure: joins, value: after.seconds, unit: 's', against },
    {
      id: 'capacity-memory',
      measure: 'its memory',
      value: after.memory,
      unit: 'MiB',
      against: { what: 'without the objects', value: before.memory },
    },
  ]
}

/**
 * What an installation over etcd takes: bytes of etcd for each workspace, and the time and memory of one more server over all objects.
 * Needs Go. `CAPACITY_WORKSPACES` (1,000), `CAPACITY_OBJECTS` (100,000).
 */
export const capacity: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const [loader, etcd] = [new Loader(directory), await startEtcd(['--quota-backend-bytes', '8589934592'])]
    const flags = ['--store', `etcd://${etcd.endpoint}`]
    const measure = async (target: Target): Promise<readonly Row[]> => {
      progress('workspaces')
      const filled = await fill(loader, target, etcd)
      progress('one more server')
      const before = await join(directory, flags)
      progress('objects')
      await loader.run({ target, requests: creates(inRoot, 'capacity', objects) })
      progress('one more server')
      return rowsOf(filled, before, await join(directory, flags))
    }
    try {
      return await withOriel(thisCheckout, directory, side => measure(targetOf(side)), flags)
    } finally {
      await loader.stop()
      await etcd.stop()
    }
  })
