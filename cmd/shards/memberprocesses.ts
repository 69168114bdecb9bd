import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { invocation } from '../process/invocation.ts'
import type { MemberReady } from '../process/memberrole.ts'
import type { MemberConfig } from './member.ts'

/** A process ended that nobody had asked to end. */
export interface MemberEnd {
  readonly name: string
  /** Its exit code, or the name of a signal. */
  readonly reason: number | string
  /** Whether it had answered before. Otherwise it has written the reason. */
  readonly wasReady: boolean
}

/** The processes of `oriel start --shards`. They end with this one. */
export class MemberProcesses {
  readonly #processes: ChildProcess[] = []
  readonly #onEnd: (end: MemberEnd) => void
  /** Resolves when one ends before `stop`. */
  readonly failed: Promise<MemberEnd>
  #isStopping = false

  constructor() {
    let onEnd: (end: MemberEnd) => void = () => undefined
    this.failed = new Promise(resolve => {
      onEnd = resolve
    })
    this.#onEnd = onEnd
  }

  /** Starts a process. Resolves with its URL when it answers; when it ends before, only `failed` resolves. */
  start(name: string, config: MemberConfig): Promise<string> {
    const { args, env } = invocation([], ['member'])
    const child = spawn(process.execPath, args, {
      env,
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      serialization: 'advanced',
    })
    child.stderr?.pipe(process.stderr, { end: false })
    this.#processes.push(child)
    let wasReady = false
    child.once('exit', (code, signal) => {
      if (!this.#isStopping) this.#onEnd({ name, reason: code ?? signal ?? '', wasReady })
    })
    // It may end before it has read this; `exit` tells.
    child.send(config, () => undefined)
    return new Promise(resolve => {
      child.once('message', ({ url }: MemberReady) => {
        wasReady = true
        resolve(url)
      })
    })
  }

  /** Ends the processes. What they log meanwhile, that the others are gone, is not shown. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#processes.map(child => endOf(child, signal)))
  }
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.stderr?.unpipe(process.stderr).resume()
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}
