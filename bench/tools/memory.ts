import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The memory of a process, in bytes. */
export interface Memory {
  /** Resident memory, including mapped pages of files. */
  readonly rss: number
  /**
   * Resident memory without mapped files: the pages of the store belong to the operating system's cache, which can
   * reclaim them.
   */
  readonly own: number
  /** Live objects and buffers, after a garbage collection. */
  readonly live: number
}

/** Collects garbage and measures. Needs `--expose-gc`. */
export async function memory(): Promise<Memory> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await sleep(20)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, own: anonymous() ?? rss, live: heapUsed + external }
}

/** From /proc; undefined on other systems than Linux. */
function anonymous(): number | undefined {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : ''
  const [, kibibytes] = /^RssAnon:\s*(\d+) kB$/m.exec(status) ?? []
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}
