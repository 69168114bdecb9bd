import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a process holds, in bytes. */
export interface Memory {
  /** In memory, with the pages of files that it has mapped. */
  readonly rss: number
  /** Of that, its own: mapped pages of the store are the operating system's cache, which takes them back. */
  readonly own: number
  /** Live objects and buffers, after a garbage collection. */
  readonly live: number
}

/** Collects garbage and looks. Needs `--expose-gc`. */
export async function memory(): Promise<Memory> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await sleep(20)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, own: anonymous() ?? rss, live: heapUsed + external }
}

/** Linux tells; undefined elsewhere. */
function anonymous(): number | undefined {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : ''
  const [, kibibytes] = /^RssAnon:\s*(\d+) kB$/m.exec(status) ?? []
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}
