import { setTimeout as sleep } from 'node:timers/promises'

/** What a process holds, in bytes. */
export interface Memory {
  readonly rss: number
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
  return { rss, live: heapUsed + external }
}
