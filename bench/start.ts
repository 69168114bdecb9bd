import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark, Row } from './result.ts'
import { type Scratch, withScratch } from './scratch.ts'
import { alternate } from './statistics.ts'

const compiled = import.meta.dirname.endsWith(join('dist', 'bench'))
const program = join(import.meta.dirname, compiled ? '..' : '../dist', 'bundle/oriel.cjs')

const few = 10_000
const many = 100_000
const rounds = 7

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** Milliseconds of a node process that does nothing. */
async function bare(): Promise<number> {
  const begin = performance.now()
  await ended(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }))
  return performance.now() - begin
}

/** Milliseconds until `oriel start` says that it serves. */
async function start(directory: string): Promise<number> {
  const begin = performance.now()
  const args = [program, 'start', '--data-directory', directory, '--port', '0']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`oriel start ended with ${code}`))),
  ])
  const time = performance.now() - begin
  child.kill()
  await ended(child)
  return time
}

async function startEmpty({ directory }: Scratch): Promise<number> {
  const empty = await mkdtemp(join(directory, 'empty-'))
  const time = await start(empty)
  await rm(empty, { recursive: true })
  return time
}

/** A data directory with so many objects, which has been started once. */
async function filled(scratch: Scratch, count: number): Promise<string> {
  const directory = join(scratch.directory, `with-${count}`)
  const server = await scratch.oriel({ store: join(directory, 'store') })
  const tenants = await server.ask('tenants', 100)
  await server.ask('fill', { tenants, count })
  await server.stop()
  await start(directory)
  return directory
}

/** From the start of the process to an open port. */
export const startUp: Benchmark = ({ progress }) =>
  withScratch(async scratch => {
    progress('an empty data directory')
    const empty = await alternate(rounds, { bare, oriel: () => startEmpty(scratch) })
    progress(`filling with ${few} and ${many} objects`)
    const kept = join(scratch.directory, 'kept')
    await start(kept)
    const small = await filled(scratch, few)
    const large = await filled(scratch, many)
    progress('with objects')
    const times = await alternate(3, {
      none: () => start(kept),
      few: () => start(small),
      many: () => start(large),
    })
    return [
      {
        id: 'start',
        measure: 'start on an empty directory to listening',
        value: empty.oriel,
        unit: 'ms',
        against: { what: 'node -e 0', value: empty.bare },
        target: { atMost: 3 },
      },
      {
        id: 'start-again',
        measure: 'second start',
        value: times.none,
        unit: 'ms',
        against: { what: 'node -e 0', value: empty.bare },
      },
      { id: 'start-many', measure: `start with ${many} objects`, value: times.many, unit: 'ms' },
      {
        id: 'start-linear',
        measure: `time for each of ${many} objects`,
        value: ((times.many - times.none) / many) * 1000,
        unit: 'µs',
        against: { what: `each of ${few}`, value: ((times.few - times.none) / few) * 1000 },
        target: { atMost: 1 },
      },
    ] satisfies Row[]
  })
