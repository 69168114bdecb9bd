import { join } from 'node:path'
import { fell, type Grove, grow, type Site } from './grove.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'

const count = 10_000
const branching = 7
const mebi = 1024 * 1024

interface Life {
  /** Workspaces to Ready, per second. */
  readonly rate: number
  /** Seconds until all were deleted. */
  readonly deletion: number
  /** Live objects and buffers, in bytes. */
  readonly before: number
  readonly top: number
  readonly after: number
}

/** Creates and deletes all workspaces of a server, and collects garbage. */
async function live(
  scratch: Scratch,
  shape: string,
  grove: Grove,
  progress: (text: string) => void,
): Promise<Life> {
  const server = await scratch.oriel({ store: join(scratch.directory, `store-${shape}`) })
  const site: Site = { server, say: text => progress(`${shape}: ${text}`) }
  // Fills the store's buffer of recent commits, which is bounded, before the measurement.
  site.say('warming up')
  const warmUp = { ...grove, count: Math.min(1_000, grove.count) }
  await grow(site, warmUp)
  await fell(site, warmUp)
  await server.ask('forget')
  const before = await server.ask('memory')
  site.say(`making ${grove.count} workspaces`)
  const rate = grove.count / (await grow(site, grove))
  const top = await server.ask('memory')
  site.say(`${rate.toFixed(0)}/s; deleting them`)
  const deletion = await fell(site, grove)
  await server.ask('forget')
  const after = await server.ask('memory')
  await server.stop()
  return { rate, deletion, before: before.live, top: top.live, after: after.live }
}

function rowsOf(shape: string, { rate, deletion, before, top, after }: Life): readonly Row[] {
  const what = `${count.toLocaleString('en')} workspaces, ${shape}`
  const row = (id: string, measure: string, value: number, unit: string): Row => ({
    id: `lifecycle-${shape}-${id}`,
    measure: `${what}: ${measure}`,
    value,
    unit,
  })
  const against = { what: 'before', value: before / mebi }
  return [
    { ...row('rate', 'to Ready', rate, '/s'), target: { atLeast: 300 } },
    { ...row('deletion', 'deleted', deletion, 's'), target: { atMost: 60 } },
    { ...row('top', 'live memory while they exist', top / mebi, 'MiB'), against },
    {
      ...row('after', 'live memory a quarter of an hour after that', after / mebi, 'MiB'),
      against,
      target: { atMost: 1.2 },
    },
  ]
}

/** Workspaces from creation to Ready and to deletion, as children of one parent and as a tree. */
export const lifecycle: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    const flat = await live(scratch, 'flat', { count, branching: 0 }, progress)
    const tree = await live(scratch, 'tree', { count, branching }, progress)
    return [
      ...rowsOf('flat', flat),
      ...rowsOf('tree', tree),
      {
        id: 'lifecycle-flat-and-tree',
        measure: 'to Ready, flat',
        value: flat.rate,
        unit: '/s',
        against: { what: 'tree', value: tree.rate },
        target: { atLeast: 1 },
      },
    ]
  })
