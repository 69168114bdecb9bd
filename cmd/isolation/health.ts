import { readFile } from 'node:fs/promises'
import { fetchText } from '../../framework/net/fetch.ts'
import { loopback } from '../../framework/request/user.ts'
import type { ViewProcess } from './viewprocess.ts'

const mebibyte = 1024 * 1024

/** Milliseconds between two questions. */
const interval = 1_000
/** Questions without an answer, after which the process counts as blocked. */
const mostUnanswered = 10

const limits = { timeout: interval * mostUnanswered * 2, bytes: 1 << 20 }

/** Asks a process every second whether its views are ready, and ends it when it does not answer or has too much memory. */
export class ProcessHealth {
  /** Bytes. */
  memory = 0
  readonly #process: ViewProcess
  readonly #most: number
  readonly #changed: (views: ReadonlyMap<string, boolean>) => void
  #unanswered = 0
  #isAsking = false
  #isAnswering = false

  /** `most`: mebibytes. `changed` gets which views are ready, by name. */
  constructor(process: ViewProcess, most: number, changed: (views: ReadonlyMap<string, boolean>) => void) {
    this.#process = process
    this.#most = most
    this.#changed = changed
    void this.#ask()
    // Ticks and not a clock: while this process does not run, the other one is not to blame.
    const timer = setInterval(() => this.#tick(), interval)
    void process.ended.then(() => clearInterval(timer))
  }

  #tick(): void {
    void this.#weigh()
    if (this.#isAsking) this.#missed('it was blocked')
    else void this.#ask()
  }

  /** The process may not listen yet before its first answer. */
  #missed(why: string): void {
    if (++this.#unanswered >= mostUnanswered && this.#isAnswering)
      this.#process.kill(`${why} for ${(interval * mostUnanswered) / 1000} s`)
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    try {
      const headers = this.#process.headersOf(loopback)
      const asked = { origin: 'http://view', path: '/readyz?verbose', headers }
      const { text } = await fetchText(this.#process.client, asked, limits)
      this.#isAnswering = true
      this.#unanswered = 0
      this.#changed(readyIn(text))
    } catch {
      this.#missed('it did not answer')
    } finally {
      this.#isAsking = false
    }
  }

  async #weigh(): Promise<void> {
    this.memory = await memoryOf(this.#process.pid)
    const mebibytes = Math.floor(this.memory / mebibyte)
    if (mebibytes >= this.#most)
      this.#process.kill(`it had ${mebibytes} MiB in memory, more than ${this.#most} MiB`)
  }
}

/** The lines of `/readyz?verbose`: `[+]name ok`. */
const readyIn = (text: string): ReadonlyMap<string, boolean> =>
  new Map([...text.matchAll(/^\[([+-])\](\S+) /gm)].map(([, sign, name = '']) => [name, sign === '+']))

/** The resident memory of a process in bytes; 0 where the system has no `/proc`. */
async function memoryOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
}
