import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** The tasks of a process by name. Arguments and results are sent as JSON. */
export type Tasks = Readonly<Record<string, (argument: never) => unknown>>

/** A separate process that runs tasks: client and server must not share an event loop. */
export interface Child<T extends Tasks> {
  readonly pid: number
  ask<K extends keyof T & string>(task: K, ...argument: Parameters<T[K]>): Promise<Awaited<ReturnType<T[K]>>>
  stop(): Promise<void>
}

interface Question {
  readonly id: number
  readonly task: string
  readonly argument?: unknown
}

interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

/** Starts `bench/children/<name>` with arguments; resolves when it is ready. */
export async function startChild<T extends Tasks>(name: string, options: object = {}): Promise<Child<T>> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const file = new URL(`../children/${name}.${extension}`, import.meta.url)
  const child = fork(file, [JSON.stringify(options)], {
    execArgv: [...process.execArgv, '--expose-gc', ...(process.env.BENCH_NODE_OPTIONS?.split(' ') ?? [])],
  })
  const waiting = new Map<number, (reply: Reply) => void>()
  child.on('message', (reply: Reply) => waiting.get(reply.id)?.(reply))
  child.on('exit', code => {
    for (const settle of waiting.values()) settle({ id: 0, error: `${name} ended with ${code}` })
  })
  let asked = 0
  const ask = async (task: string, argument?: unknown): Promise<unknown> => {
    const id = asked++
    const reply = await new Promise<Reply>(resolve => {
      waiting.set(id, resolve)
      child.send({ id, task, argument } satisfies Question)
    })
    waiting.delete(id)
    if (reply.error !== undefined) throw new Error(`${name}: ${task}: ${reply.error}`)
    return reply.result
  }
  await Promise.race([ask('ready'), once(child, 'error').then(([error]) => Promise.reject(error))])
  return { pid: child.pid ?? 0, ask: ask as Child<T>['ask'], stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.disconnect()
  await once(child, 'exit')
}

/** The options this process was started with. */
export const childOptions = <O>(): O => JSON.parse(process.argv[2] ?? '{}') as O

/** The child's side: runs tasks until the parent disconnects, then cleans up and ends. */
export function serveTasks(tasks: Tasks, cleanUp: () => unknown = () => undefined): void {
  const all: Readonly<Record<string, (argument: never) => unknown>> = { ready: () => undefined, ...tasks }
  process.on('message', async ({ id, task, argument }: Question) => {
    const reply = await attempt(async () => all[task]?.(argument as never))
    process.send?.({ id, ...reply } satisfies Reply)
  })
  process.on('disconnect', async () => {
    await cleanUp()
    process.exit()
  })
}

async function attempt(work: () => Promise<unknown>): Promise<Omit<Reply, 'id'>> {
  try {
    return { result: await work() }
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
