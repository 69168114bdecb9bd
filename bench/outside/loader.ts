import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { userToken } from '../tools/connection.ts'
import type { Side } from '../tools/sides.ts'

/** A server over TLS. */
export interface Target {
  /** `https://127.0.0.1:6443`. */
  readonly url: string
  /** PEM. */
  readonly ca: string
  readonly token: string
  readonly http2: boolean
}

/** A server as target, over HTTP/1.1 or HTTP/2. */
export const targetOf = ({ address }: Side, http2 = false): Target => ({
  url: `https://127.0.0.1:${address.port}`,
  ca: address.ca ?? '',
  token: userToken,
  http2,
})

/** Requests of `load.go`; `%d` in paths and in the body is the number of the request. */
export interface Requests {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly paths: readonly string[]
  readonly body?: string
  readonly contentType?: string
  /** Connections. */
  readonly workers: number
  readonly count: number
  /** After its response, this path is read until it has the text. */
  readonly until?: string
  readonly untilHas?: string
  /** Requests that begin in a second; absent: as soon as a connection is free. */
  readonly perSecond?: number
}

export interface Task {
  readonly target: Target
  readonly requests: Requests
  /** Watches of a path that get an event for each request. */
  readonly watches?: number
  readonly watched?: string
}

export interface Taken {
  readonly error?: string
  readonly seconds: number
  /** Milliseconds of a request. */
  readonly p50: number
  readonly p99: number
  readonly bytes: number
  /** Seconds until all watches have all events. */
  readonly delivered: number
}

const compiled = import.meta.dirname.endsWith(join('dist', 'bench', 'outside'))
const source = compiled ? join(import.meta.dirname, '../../../bench/outside') : import.meta.dirname

/** The program `load.go`, a client that is not ours to tune. Needs Go. */
export class Loader {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  /** Builds the program in a directory, and starts it. */
  constructor(directory: string) {
    const program = join(directory, 'load')
    execFileSync('go', ['build', '-o', program, '.'], { cwd: source, stdio: 'inherit' })
    this.#child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
    if (this.#child.stdout === null) throw new Error('the program has no output')
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]()
  }

  async run(task: Task): Promise<Taken> {
    this.#child.stdin?.write(`${JSON.stringify(task)}\n`)
    const { value = '{}' } = await this.#lines.next()
    const taken = JSON.parse(value) as Taken
    if (taken.error !== undefined) throw new Error(taken.error)
    return taken
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end()
    await once(this.#child, 'exit')
  }
}
