import { join } from 'node:path'
import type { BareTasks } from './children/bare.ts'
import { startChild } from './tools/child.ts'
import { residentMemory } from './tools/process.ts'
import type { Row } from './tools/result.ts'
import { rounds, type Side, type Sides } from './tools/sides.ts'
import { changes, type Subject, watched, watchers } from './viewloads.ts'
import { Watchers } from './watchers.ts'

type Memory = Awaited<ReturnType<typeof residentMemory>>

const against = "kcp's process"
const withWatchers = `memory with ${watchers} watchers`

/** Memory before the first request. */
export async function idleRow({ oriel, kcp }: Sides): Promise<Row> {
  return {
    id: 'standalone-memory-idle',
    measure: 'memory before the first request',
    unit: 'MiB',
    value: (await residentMemory(oriel.pid)).all,
    against: { what: against, value: (await residentMemory(kcp.pid)).all },
  }
}

/** Memory with everything in use, and that of a server that only holds the same watchers. */
export async function memoryRows(subject: Subject): Promise<readonly Row[]> {
  const oriel = await measured(subject, subject.sides.oriel)
  const kcp = await measured(subject, subject.sides.kcp)
  const bare = await bareMemory(subject)
  const all = { unit: 'MiB', against: { what: against, value: kcp.all } }
  return [
    {
      ...all,
      id: 'standalone-memory',
      measure: withWatchers,
      value: oriel.all,
      target: { atMost: 0.2 },
    },
    {
      id: 'standalone-memory-own',
      measure: `${withWatchers}, without mapped files`,
      unit: 'MiB',
      value: oriel.own,
      against: { what: against, value: kcp.own },
    },
    {
      ...all,
      id: 'standalone-memory-bare',
      measure: `${withWatchers} of a bare node:https`,
      value: bare.all,
    },
  ]
}

async function measured(subject: Subject, { address, pid }: Side): Promise<Memory> {
  const open = await watched(subject, address)
  await open.quiet()
  const memory = await residentMemory(pid)
  open.close()
  return memory
}

/** About the size of an event of the other servers. */
const bytes = 1_300

/** Memory after as many watchers and events as on the other servers. */
async function bareMemory({ standalone: { files }, sides }: Subject): Promise<Memory> {
  const certificate = { cert: join(files, 'apiserver.crt'), key: join(files, 'apiserver.key') }
  const bare = await startChild<BareTasks>('bare', certificate)
  try {
    const { port, pid } = await bare.ask('listen')
    const address = { ...sides.oriel.address, port }
    for (let round = 0; round < rounds; round++) {
      const open = await Watchers.open(address, '/', watchers)
      await bare.ask('send', { events: changes, bytes })
      await open.quiet()
      open.close()
    }
    const open = await Watchers.open(address, '/', watchers)
    await open.quiet()
    const memory = await residentMemory(pid)
    open.close()
    return memory
  } finally {
    await bare.stop()
  }
}
