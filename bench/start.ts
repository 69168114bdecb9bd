import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort, whenOpen } from './tools/ports.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { type Scratch, withScratch } from './tools/scratch.ts'
import { alternate, median } from './tools/statistics.ts'

const compiled = import.meta.dirname.endsWith(join('dist', 'bench'))
const program = join(import.meta.dirname, compiled ? '..' : '../dist', 'bundle/oriel.cjs')

const few = 10_000
const many = 100_000
const rounds = 7

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** Milliseconds of an empty node process. */
async function bare(): Promise<number> {
  const begin = performance.now()
  await ended(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }))
  return performance.now() - begin
}

/** Milliseconds from the start of a process. */
interface Times {
  /** Until the port is open. */
  readonly listening: number
  /** Until `/readyz` returns 200. */
  readonly ready: number
}

async function start(directory: string): Promise<Times> {
  const port = await freePort()
  const begin = performance.now()
  const args = [program, 'start', '--data-directory', directory, '--port', String(port)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const times = await Promise.race([
    firstTimes(port, begin),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`oriel start ended with ${code}`))),
  ])
  child.kill()
  await ended(child)
  return times
}

/** The first request waits until the server responds. */
async function firstTimes(port: number, begin: number): Promise<Times> {
  await whenOpen(port, 1)
  const listening = performance.now() - begin
  while ((await readiness(port)) !== 200) await setTimeout(1)
  return { listening, ready: performance.now() - begin }
}

async function readiness(port: number): Promise<number | undefined> {
  const call = get({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false })
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}

async function startEmpty({ directory }: Scratch): Promise<Times> {
  const empty = await mkdtemp(join(directory, 'empty-'))
  const times = await start(empty)
  await rm(empty, { recursive: true })
  return times
}

/** A data directory with this many objects, from an earlier start. */
async function filled(scratch: Scratch, count: number): Promise<string> {
  const directory = join(scratch.directory, `with-${count}`)
  const server = await scratch.oriel({ store: join(directory, 'store') })
  const tenants = await server.ask('tenants', 100)
  await server.ask('fill', { tenants, count })
  await server.stop()
  await start(directory)
  return directory
}

/** Starts on an empty directory, in turn with an empty node process. */
async function emptyRows(scratch: Scratch): Promise<readonly [Row, Row]> {
  const bares: number[] = []
  const starts: Times[] = []
  for (let round = 0; round < rounds; round++) {
    bares.push(await bare())
    starts.push(await startEmpty(scratch))
  }
  const against = { what: 'node -e 0', value: median(bares) }
  const row = (id: string, measure: string, what: keyof Times): Row => ({
    id,
    measure,
    against,
    unit: 'ms',
    value: median(starts.map(times => times[what])),
  })
  return [
    { ...row('start', 'start on an empty directory to listening', 'listening'), target: { atMost: 3 } },
    row('start-ready', 'start on an empty directory to ready', 'ready'),
  ]
}

const readyAt = async (directory: string): Promise<number> => (await start(directory)).ready

/** Starts on the data of earlier starts: the root workspace only, and with objects. */
async function laterRows(scratch: Scratch): Promise<readonly Row[]> {
  const kept = join(scratch.directory, 'kept')
  await start(kept)
  const small = await filled(scratch, few)
  const large = await filled(scratch, many)
  const times = await alternate(3, {
    none: () => readyAt(kept),
    few: () => readyAt(small),
    many: () => readyAt(large),
  })
  const each = (time: number, count: number): number => ((time - times.none) / count) * 1000
  return [
    { id: 'start-again', measure: 'second start to ready', value: times.none, unit: 'ms' },
    { id: 'start-many', measure: `start with ${many} objects to ready`, value: times.many, unit: 'ms' },
    {
      id: 'start-linear',
      measure: `time for each of ${many} objects`,
      value: each(times.many, many),
      unit: 'µs',
      against: { what: `each of ${few}`, value: each(times.few, few) },
      target: { atMost: 1 },
    },
  ]
}

/** From the start of the process to an open port, and to the first response. */
export const startUp: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress('an empty data directory')
    const empty = await emptyRows(scratch)
    progress(`with ${few} and ${many} objects`)
    return [...empty, ...(await laterRows(scratch))]
  })
