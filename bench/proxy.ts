import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silent } from '../framework/contract/log.ts'
import { createShardClient } from '../proxy/shardclient.ts'
import { followShards, type ShardIndex } from '../proxy/shardindex.ts'
import type { HopTasks } from './children/hop.ts'
import type { PlainTasks } from './children/plain.ts'
import type { OrielTasks } from './children/serve.ts'
import { moment } from './children/settled.ts'
import { type Child, startChild } from './tools/child.ts'
import { type Address, encodeRequest, peerToken } from './tools/connection.ts'
import { load } from './tools/load.ts'
import { startNginx } from './tools/nginx.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { withScratch } from './tools/scratch.ts'
import { alternate, percentile } from './tools/statistics.ts'
import { Watchers } from './watchers.ts'

const milliseconds = 2_000
const rounds = 3
const request = encodeRequest({ path: '/object' })

/** The ways to one server: directly, through the proxy, and through nginx where it is installed. */
interface Ways {
  readonly direct: Address
  readonly oriel: Address
  readonly nginx: Address | undefined
}

type Measure = (address: Address) => Promise<number>

/** One measurement of every way, in turn. */
async function each(
  { direct, oriel, nginx }: Ways,
  measure: Measure,
): Promise<Readonly<Record<keyof Ways, number>>> {
  const taken = await alternate<string>(rounds, {
    direct: () => measure(direct),
    oriel: () => measure(oriel),
    ...(nginx && { nginx: () => measure(nginx) }),
  })
  return { direct: taken.direct ?? 0, oriel: taken.oriel ?? 0, nginx: taken.nginx ?? Number.NaN }
}

interface Measured {
  readonly id: string
  readonly measure: string
  readonly unit: string
  readonly taken: Readonly<Record<keyof Ways, number>>
}

function rowsOf({ id, measure, unit, taken }: Measured): readonly Row[] {
  const row = { measure, value: taken.oriel, unit }
  const direct = { ...row, id, against: { what: 'without a proxy', value: taken.direct } }
  if (Number.isNaN(taken.nginx)) return [direct]
  return [
    direct,
    { ...row, id: `${id}-nginx`, against: { what: 'nginx on the same hop', value: taken.nginx } },
  ]
}

const perSecond: Measure = async address =>
  (await load(address, { connections: 64, milliseconds, request: () => request })).perSecond
const latency: Measure = async address =>
  (await load(address, { connections: 1, milliseconds, request: () => request })).p50
const megabytes: Measure = async address =>
  (await load(address, { connections: 2, milliseconds, request: () => request })).bytesPerSecond / 1e6

const watchers = 1_000

/** Events per second that arrive at all watchers together, of 10 changes a second. */
async function watched(plain: Child<PlainTasks>, address: Address): Promise<number> {
  const watching = Watchers.open(address, '/watch', watchers)
  const begin = plain.ask('churn', { rate: 20, milliseconds: 1_500 })
  const open = await watching
  await begin
  const before = open.bytes
  await plain.ask('churn', { rate: 20, milliseconds })
  await open.quiet()
  const arrived = (open.bytes - before) / 1e6 / (milliseconds / 1000)
  open.close()
  return arrived
}

/** The cost of a hop. */
const hop: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    const plain = await scratch.plain()
    const direct = await plain.ask('address')
    const through = await startChild<HopTasks>('hop', direct)
    const nginx = await startNginx(scratch.directory, direct.port)
    try {
      const ways = { direct, oriel: await through.ask('address'), nginx }
      const answer = async (size: number): Promise<void> => {
        const path = join(scratch.directory, `answer-${size}`)
        await writeFile(path, Buffer.alloc(size, '{'))
        await plain.ask('answer', {
          path,
          headers: { 'content-type': 'application/json', 'content-length': String(size) },
        })
      }
      progress('small GETs')
      await answer(950)
      const gets = await each(ways, perSecond)
      const times = await each(ways, latency)
      progress('large lists')
      await answer(10_000_000)
      const lists = await each(ways, megabytes)
      progress(`${watchers} watches`)
      await keep(plain, scratch.directory)
      const watches = await each(ways, address => watched(plain, address))
      return [
        ...rowsOf({
          id: 'proxy-get',
          measure: 'GET of 1 KB through the proxy, 64 clients',
          unit: '/s',
          taken: gets,
        }),
        ...rowsOf({ id: 'proxy-latency', measure: 'one such GET, one client', unit: 'ms', taken: times }),
        ...rowsOf({
          id: 'proxy-list',
          measure: 'LIST of 10 MB through the proxy',
          unit: 'MB/s',
          taken: lists,
        }),
        ...rowsOf({
          id: 'proxy-watch',
          measure: `${watchers} watches through the proxy`,
          unit: 'MB/s',
          taken: watches,
        }),
      ]
    } finally {
      await through.stop()
      await nginx?.stop()
    }
  })

async function keep(plain: Child<PlainTasks>, directory: string): Promise<void> {
  const path = join(directory, 'items.json')
  const items = Array.from({ length: 100 }, (_, i) => ({
    metadata: { name: `item-${i}` },
    spec: { text: 'x'.repeat(800) },
  }))
  await writeFile(path, JSON.stringify({ items }))
  await plain.ask('keep', path)
}

const known = 10_000
const changes = 60

/** Milliseconds between a change on the shard and its arrival in the proxy's index. */
async function delay(
  server: Child<OrielTasks>,
  index: ShardIndex,
  path: string,
  exists: boolean,
): Promise<number> {
  const [there, here] = await Promise.all([
    server.ask('settled', { path, exists }),
    moment(() => (index.find(path) !== undefined) === exists),
  ])
  return here - there
}

/** The delay of the index of a front proxy. */
const index: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    const server = await scratch.oriel()
    progress(`${known} workspaces`)
    await server.ask(
      'workspaces',
      Array.from({ length: known }, (_, i) => `known-${i}`),
    )
    const ending = new AbortController()
    const { port } = await server.ask('address')
    const client = createShardClient({
      server: `http://127.0.0.1:${port}`,
      token: peerToken,
    })
    const begin = performance.now()
    const followed = await followShards({
      root: client,
      connect: () => client,
      externalUrl: '',
      log: silent,
      signal: ending.signal,
    })
    await moment(() => followed.isReady())
    const filled = performance.now() - begin
    progress('changes')
    const delays: number[] = []
    for (let i = 0; i < changes; i++) {
      const name = `changing-${i}`
      const seen = delay(server, followed, `root:${name}`, true)
      await server.ask('workspaces', [name])
      delays.push(await seen)
      const lost = delay(server, followed, `root:${name}`, false)
      await server.ask('remove', name)
      delays.push(await lost)
    }
    ending.abort()
    await client.close()
    return [
      {
        id: 'proxy-index-delay',
        measure: `p99 until the index of a proxy follows, ${known.toLocaleString('en')} workspaces`,
        value: percentile(delays, 0.99),
        unit: 'ms',
        target: { atMost: 100 },
      },
      { id: 'proxy-index-fill', measure: 'until a new proxy knows them all', value: filled, unit: 'ms' },
    ]
  })

/** The cost of the proxy, and the delay of its index. */
export const proxy: Benchmark = async bench => [...(await hop(bench)), ...(await index(bench))]
