import { type Applied, applying, define, patching } from './routers.ts'
import { type Address, encodeRequest, type Request } from './tools/connection.ts'
import { withKcp } from './tools/kcp.ts'
import { load } from './tools/load.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { withScratch } from './tools/scratch.ts'
import { type Done, rowsOf, type Side } from './tools/sides.ts'
import { alternate } from './tools/statistics.ts'

const clients = 8
const managers = 10
const milliseconds = 2_000
const rounds = 3
/** Ports of objects of about 4, 40 and 400 kB with their managedFields. */
const sizes = { small: 15, usual: 150, large: 1500 }

/** One object for each client. */
const router = (kind: keyof typeof sizes, client: number, revision: number): Applied => ({
  name: `${kind}-${client}`,
  manager: 'bench',
  from: 0,
  count: sizes[kind],
  revision,
})

/** Each manager applies half of the ports; neighbors share most of theirs. */
const shared = (client: number, revision: number): Applied => ({
  ...router('usual', client, revision),
  name: `shared-${client}`,
  manager: `manager-${revision % managers}`,
  from: (revision % managers) * 7,
  count: sizes.usual / 2,
})

const kinds = Object.keys(sizes) as (keyof typeof sizes)[]
const eachClient = <T>(make: (client: number) => T): readonly T[] =>
  Array.from({ length: clients }, (_, i) => make(i))
const routers = [
  ...kinds.flatMap(kind => eachClient(client => router(kind, client, 0))),
  ...eachClient(client => Array.from({ length: managers }, (_, i) => shared(client, i))).flat(),
]

type Change = (client: number, revision: number) => Request

const applies =
  (kind: keyof typeof sizes): Change =>
  (client, revision) =>
    applying(router(kind, client, revision))
const sharing: Change = (client, revision) => applying(shared(client, revision))
const patches: Change = (client, revision) => patching(`usual-${client}`, revision)

/** Changes of objects, one object per client, in a fixed time. */
async function changes(address: Address, change: Change): Promise<Done> {
  let count = 0
  const request = (): Buffer => {
    const next = ++count
    return encodeRequest(change(next % clients, Math.floor(next / clients)))
  }
  const { perSecond } = await load(address, { connections: clients, milliseconds, request })
  return { count, perSecond }
}

/** The cost of an apply, by the size of the object and the number of managers. */
async function ownRows({ address }: Side): Promise<readonly Row[]> {
  const taking = (change: Change) => async () => (await changes(address, change)).perSecond
  const perSecond = await alternate(rounds, {
    apply: taking(applies('usual')),
    patch: taking(patches),
    small: taking(applies('small')),
    large: taking(applies('large')),
    shared: taking(sharing),
  })
  const perPort = (kind: keyof typeof sizes, value: number): number => value * sizes[kind]
  const usual = { what: 'of 40 kB', value: perPort('usual', perSecond.apply) }
  return [
    {
      id: 'apply.apply',
      measure: `apply of 40 kB, ${clients} clients`,
      value: perSecond.apply,
      unit: '/s',
      against: { what: 'merge patches of one label', value: perSecond.patch },
    },
    {
      id: 'apply.small',
      measure: 'items applied, in objects of 4 kB',
      value: perPort('small', perSecond.small),
      unit: '/s',
      against: usual,
    },
    {
      id: 'apply.large',
      measure: 'items applied, in objects of 400 kB',
      value: perPort('large', perSecond.large),
      unit: '/s',
      against: usual,
      target: { atLeast: 0.5 },
    },
    {
      id: 'apply.managers',
      measure: `apply of half of 40 kB by ${managers} managers in turn`,
      value: perSecond.shared,
      unit: '/s',
      against: { what: 'apply of 40 kB by one', value: perSecond.apply },
    },
  ]
}

async function rowsBesideKcp(oriel: Side, kcp: Side): Promise<readonly Row[]> {
  const measures: readonly (readonly [id: string, measure: string, change: Change])[] = [
    ['apply.kcp', 'apply of 40 kB', applies('usual')],
    ['apply.kcp-managers', `apply of half of 40 kB by ${managers} managers`, sharing],
    ['apply.kcp-patch', 'merge patch of one label of 40 kB', patches],
  ]
  const rows: Row[] = []
  for (const [id, measure, change] of measures) {
    const take = ({ address }: Side): Promise<Done> => changes(address, change)
    rows.push(...(await rowsOf({ id, measure, unit: '', take }, { oriel, kcp }, 'kcp')))
  }
  return rows
}

/**
 * Changes of objects whose every field has an owner: by server-side apply, and by a patch of one field. With KCP_BIN the
 * same at kcp.
 */
export const apply: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress('starting')
    const server = await scratch.oriel({ store: 'memory:' })
    const oriel = { address: await server.ask('address'), pid: server.pid }
    await define(oriel.address, routers)
    progress('by size')
    const rows = await ownRows(oriel)
    const program = process.env.KCP_BIN
    if (!program) return rows
    progress('beside kcp')
    const beside = await withKcp(program, scratch.directory, async kcp => {
      await define(kcp.address, routers)
      return rowsBesideKcp(oriel, kcp)
    })
    return [...rows, ...beside]
  })
