import { startEtcd } from '../../test/support/servers/etcd.ts'
import {
  kubeApiserverProgram,
  kubeApiserverToken,
  noKubeApiserver,
  startKubeApiserverOver,
} from '../../test/support/servers/kubeapiserver.ts'
import { Loader, type Requests, type Target, targetOf } from '../outside/loader.ts'
import { thisCheckout, withOriel } from '../outside/server.ts'
import { processorTime } from '../tools/process.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import { median } from '../tools/statistics.ts'
import { creates, gets, inRoot, numberFrom, whenReady } from './objects.ts'

const count = numberFrom('BESIDE_REQUESTS', 4_000)
const rounds = numberFrom('BESIDE_ROUNDS', 3)

/** A server over the etcd. */
interface Subject {
  readonly target: Target
  readonly pid: number
  /** Of its ConfigMaps. */
  readonly path: string
}

/** The numbers of each round. */
interface Taken {
  readonly perSecond: number[]
  /** Milliseconds of processor time of the server for one request. */
  readonly processor: number[]
}

async function take(
  loader: Loader,
  { target, pid }: Subject,
  requests: Requests,
  into: Taken,
): Promise<void> {
  const before = await processorTime(pid)
  const { seconds } = await loader.run({ target, requests })
  into.perSecond.push(requests.count / seconds)
  into.processor.push((((await processorTime(pid)) - before) * 1_000) / requests.count)
}

type Both = Readonly<Record<'oriel' | 'kubernetes', Subject>>

const verbs = { create: creates, get: gets } as const
const names = {
  create: 'CREATE of a ConfigMap of 1 KiB over etcd, 64 connections',
  get: 'GET over etcd, 64 connections',
} as const

async function compare(loader: Loader, both: Both, say: (text: string) => void): Promise<readonly Row[]> {
  const sides = ['kubernetes', 'oriel'] as const
  const taken = new Map<string, Taken>()
  const of = (id: string): Taken => {
    const found = taken.get(id) ?? { perSecond: [], processor: [] }
    taken.set(id, found)
    return found
  }
  for (const side of sides) await whenReady(loader, both[side].target, both[side].path)
  for (let round = 0; round < rounds; round++)
    for (const verb of ['create', 'get'] as const)
      for (const side of sides) {
        say(`round ${round + 1} of ${rounds}: ${verb}, ${side}`)
        const requests = verbs[verb](both[side].path, `r${round}`, count)
        await take(loader, both[side], requests, of(`${side} ${verb}`))
      }
  return (['create', 'get'] as const).flatMap(verb =>
    rowsOf(verb, of(`oriel ${verb}`), of(`kubernetes ${verb}`)),
  )
}

function rowsOf(verb: keyof typeof names, oriel: Taken, kubernetes: Taken): readonly Row[] {
  const row = (id: string, measure: string, what: keyof Taken, unit: string): Row => ({
    id: `beside-apiserver-${id}`,
    measure,
    unit,
    value: median(oriel[what]),
    against: { what: 'kube-apiserver', value: median(kubernetes[what]) },
  })
  return [
    row(verb, names[verb], 'perSecond', '/s'),
    row(`${verb}-processor`, `${names[verb]}: processor time of one`, 'processor', 'ms'),
  ]
}

/**
 * Oriel and kube-apiserver over the same etcd, in turn, with a client in Go. The etcd of the tests does not flush its log, so that the
 * disk hides nothing. Needs Go and `scripts/install-kube-apiserver.sh`. `BESIDE_REQUESTS`: CREATEs of a round (4,000); three times
 * as many GETs. `BESIDE_ROUNDS` (3).
 */
export const besideApiserver: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const program = kubeApiserverProgram()
    if (program === undefined) {
      process.stderr.write(`beside-apiserver did not run: ${noKubeApiserver}\n`)
      return []
    }
    const [loader, etcd] = [new Loader(directory), await startEtcd()]
    progress('starting kube-apiserver')
    const { ca, port, pid, stop } = await startKubeApiserverOver(program, etcd)
    const url = `https://127.0.0.1:${port}`
    const target = { url, ca, token: kubeApiserverToken, http2: false }
    const kubernetes = { target, pid, path: '/api/v1/namespaces/default/configmaps' }
    try {
      return await withOriel(
        thisCheckout,
        directory,
        side =>
          compare(
            loader,
            { kubernetes, oriel: { target: targetOf(side), pid: side.pid, path: inRoot } },
            progress,
          ),
        ['--store', `etcd://${etcd.endpoint}`],
      )
    } finally {
      await Promise.all([loader.stop(), stop()])
      await etcd.stop()
    }
  })
