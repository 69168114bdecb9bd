import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PlainTasks } from '../children/plain.ts'
import type { PullerTasks } from '../children/puller.ts'
import type { OrielTasks, ServeOptions } from '../children/serve.ts'
import { type Child, startChild, type Tasks } from './child.ts'
import type { Address } from './connection.ts'

/** Processes and directories that a benchmark starts; removed when it ends, also by an error. */
export interface Scratch {
  readonly directory: string
  oriel(options?: Partial<ServeOptions>): Promise<Child<OrielTasks>>
  plain(): Promise<Child<PlainTasks>>
  puller(address: Address): Promise<Child<PullerTasks>>
}

export async function withScratch<T>(work: (scratch: Scratch) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'oriel-bench-'))
  const children: Child<Tasks>[] = []
  const start = async <C extends Tasks>(name: string, options: object): Promise<Child<C>> => {
    const child = await startChild<C>(name, options)
    children.push(child)
    return child
  }
  try {
    return await work({
      directory,
      oriel: options => start('serve', { store: 'memory:', ...options }),
      plain: () => start('plain', {}),
      puller: address => start('puller', { address }),
    })
  } finally {
    await Promise.all(children.map(child => child.stop()))
    await rm(directory, { recursive: true, force: true })
  }
}
