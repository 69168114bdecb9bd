import { withKcp } from '../tools/kcp.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { Loader } from './loader.ts'
import { type Measured, measureOutside, type Outside } from './measures.ts'
import { thisCheckout, withOriel } from './server.ts'

/** A server, and the seconds from its start until `/readyz` responds. */
interface Started {
  readonly seconds: number
  readonly outside: Outside
}

const names: Readonly<Record<string, string>> = {
  workspaces: 'workspaces to Ready, 16 clients',
  create: 'CREATE of a ConfigMap of 1 KiB, 64 connections',
  get: 'GET, 64 connections',
  'get-http2': 'GET over HTTP/2, 64 connections',
  list: 'LIST of 120 objects, 64 connections',
  'list-all': 'LIST of 12,000 objects over *, 4 connections',
}

function rowsOf(oriel: Started, kcp: Started | undefined): readonly Row[] {
  const row = (
    [id, measure, unit]: readonly [id: string, measure: string, unit: string],
    value: (of: Started) => number,
  ): Row => ({
    ...{ id: `outside-${id}`, measure, unit, value: value(oriel) },
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

/** Whole servers over TLS, and a client in Go: Oriel, and kcp where `KCP_BIN` is. */
export const outside: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const loader = new Loader(directory)
    const measure = (name: string, begin: number) => async (side: Side) => ({
      seconds: (performance.now() - begin) / 1_000,
      outside: await measureOutside(loader, side, step => progress(`${name}: ${step}`)),
    })
    const { KCP_BIN } = process.env
    const kcp =
      KCP_BIN === undefined ? undefined : await withKcp(KCP_BIN, directory, measure('kcp', performance.now()))
    const oriel = await withOriel(thisCheckout, directory, measure('Oriel', performance.now()))
    await loader.stop()
    return rowsOf(oriel, kcp)
  })
