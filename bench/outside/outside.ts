import { withKcp } from '../tools/kcp.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { keepBodies, withSameBytes } from './limits.ts'
import { Loader } from './loader.ts'
import {
  connections,
  type Measured,
  measureOutside,
  measureRequests,
  type Outside,
  type Subject,
  total,
} from './measures.ts'
import { thisCheckout, withOriel } from './server.ts'

/** A server, and the seconds from its start until `/readyz` responds. */
interface Started {
  readonly seconds: number
  readonly outside: Outside
}

const names: Readonly<Record<string, string>> = {
  workspaces: 'workspaces to Ready, 16 clients',
  create: `CREATE of a ConfigMap of 1 KiB, ${connections} connections`,
  get: `GET, ${connections} connections`,
  'get-http2': `GET over HTTP/2, ${connections} connections`,
  list: `LIST of 120 objects, ${connections} connections`,
  'list-all': `LIST of ${total.toLocaleString('en')} objects over *, 4 connections`,
  binding: 'APIBinding until it is bound, 40 in a second',
}

function rowsOf(oriel: Started, kcp: Started | undefined): readonly Row[] {
  const row = (
    [id, measure, unit]: readonly [id: string, measure: string, unit: string],
    value: (of: Started) => number,
  ): Row => ({
    id: `outside-${id}`,
    measure,
    unit,
    value: value(oriel),
    ...(kcp && { against: { what: 'kcp', value: value(kcp) } }),
  })
  const of = (name: string, take: (measured: Measured) => number) => (started: Started) =>
    take(started.outside.requests[name] as Measured)
  const requests = Object.entries(names).flatMap(([id, measure]) => [
    row(
      [id, measure, '/s'],
      of(id, ({ perSecond }) => perSecond),
    ),
    row(
      [`${id}-processor`, `${measure}: processor time of one`, 'ms'],
      of(id, ({ processor }) => processor),
    ),
    row(
      [`${id}-p50`, `${measure}: p50`, 'ms'],
      of(id, ({ p50 }) => p50),
    ),
    row(
      [`${id}-p99`, `${measure}: p99`, 'ms'],
      of(id, ({ p99 }) => p99),
    ),
  ])
  return [
    row(['start', 'start to ready', 's'], ({ seconds }) => seconds),
    ...requests,
    row(['events', 'events at 300 watchers over *', '/s'], ({ outside }) => outside.events.perSecond),
    row(['memory', 'memory after this', 'MiB'], ({ outside }) => outside.memory),
    row(['processor', 'processor time of all of it', 's'], ({ outside }) => outside.processor),
  ]
}

/** The measurements that a plain server can make too. */
const limited = ['create', 'get', 'list', 'list-all']

/** The processor time of requests against that of a server that only sends the same bytes. */
function limitsOf(oriel: Outside, plain: Outside): readonly Row[] {
  const rows = limited.map(id => ({
    id: `outside-${id}-limit`,
    measure: `${names[id]}: processor time of one`,
    unit: 'ms',
    value: (oriel.requests[id] as Measured).processor,
    against: { what: 'node:https, same bytes', value: (plain.requests[id] as Measured).processor },
  }))
  const events = {
    id: 'outside-events-limit',
    measure: 'events at 300 watchers over *',
    unit: '/s',
    value: oriel.events.perSecond,
    against: { what: 'node:https, same bytes', value: plain.events.perSecond },
  }
  return [...rows, events]
}

/**
 * Whole servers over TLS, and a client in Go: Oriel, kcp where `KCP_BIN` is, and plain `node:https` that sends the bodies of Oriel
 * and writes those of POSTs to a file with a flush before it responds.
 */
export const outside: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const loader = new Loader(directory)
    const subjectOf = (name: string, side: Side): Subject => ({
      loader,
      side,
      say: step => progress(`${name}: ${step}`),
    })
    const measure = (name: string, begin: number) => async (side: Side) => ({
      seconds: (performance.now() - begin) / 1_000,
      outside: await measureOutside(subjectOf(name, side)),
    })
    const { KCP_BIN } = process.env
    const kcp =
      KCP_BIN === undefined ? undefined : await withKcp(KCP_BIN, directory, measure('kcp', performance.now()))
    const began = performance.now()
    const [oriel, bodies] = await withOriel(thisCheckout, directory, async side => [
      await measure('Oriel', began)(side),
      await keepBodies(side.address, directory),
    ])
    const plain = await withSameBytes(bodies, side => measureRequests(subjectOf('node:https', side)))
    await loader.stop()
    return [...rowsOf(oriel, kcp), ...limitsOf(oriel.outside, plain)]
  })
