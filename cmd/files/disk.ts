import { statfs } from 'node:fs/promises'
import type { Logger } from '../../framework/contract/log.ts'
import type { Metrics } from '../../framework/metrics/metrics.ts'

/** The room on the disk of the store. */
export interface Disk {
  /** Why only deletions are accepted; undefined while there is room. */
  readonly shortage: string | undefined
  /** Adds the metrics. */
  measure(metrics: Metrics): void
  close(): void
}

export interface DiskOptions {
  readonly directory: string
  /** Bytes that must be free; 0: no limit. */
  readonly floor: number
  readonly log: Logger
  /** Bytes that are free in a directory. */
  readonly freeIn?: (directory: string) => Promise<number>
}

/** Milliseconds between two looks: less than writes need to use up the floor. */
const interval = 250

/** The bytes that the process may use: without those that are reserved for the administrator of the machine. */
async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MiB`

/** Follows the free space of a directory until `close`. Resolves after the first look. */
export async function followDisk(options: DiskOptions): Promise<Disk> {
  const disk = new FollowedDisk(options)
  await disk.look()
  return disk
}

class FollowedDisk implements Disk {
  shortage: string | undefined
  #free = Number.POSITIVE_INFINITY
  readonly #options: DiskOptions
  readonly #timer: NodeJS.Timeout

  constructor(options: DiskOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.look(), interval).unref()
  }

  async look(): Promise<void> {
    const { directory, floor, log, freeIn = freeBytes } = this.#options
    try {
      this.#free = await freeIn(directory)
    } catch (error) {
      // The store itself fails when its directory is gone.
      return log.debug({ error: String(error) }, 'the free space of the disk cannot be read')
    }
    const isShort = this.#free < floor
    if (isShort === (this.shortage !== undefined)) return
    this.shortage = isShort ? 'the disk of the server is almost full: only deletions are accepted' : undefined
    const sizes = { directory, free: mebibytes(this.#free), floor: mebibytes(floor) }
    if (isShort)
      log.error(sizes, 'less disk space is free than --store-min-free: writes are refused, deletions are not')
    else log.info(sizes, 'enough disk space is free again: writes are accepted')
  }

  measure(metrics: Metrics): void {
    metrics.meter({
      kind: 'gauge',
      name: 'oriel_store_disk_free_bytes',
      help: 'Bytes that are free on the disk of the store.',
      labels: [],
      collect: set => set({}, this.#free),
    })
    metrics.meter({
      kind: 'gauge',
      name: 'oriel_store_read_only',
      help: '1 while writes are refused because the disk of the store is almost full.',
      labels: [],
      collect: set => set({}, this.shortage === undefined ? 0 : 1),
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** The disk of a store in memory. */
export const noDisk: Disk = { shortage: undefined, measure: () => undefined, close: () => undefined }
