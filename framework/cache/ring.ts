import type { CacheEvent } from './event.ts'
import { Line } from './line.ts'
import type { CacheItem } from './page.ts'

/** How many events of one resource are kept: the first limit that is reached applies. */
export interface RingBounds {
  readonly events: number
  readonly bytes: number
  readonly minutes: number
}

export const defaultRing: RingBounds = { events: 100_000, bytes: 64 * 1024 * 1024, minutes: 15 }

/** The newest events of one resource, and lines of single clusters while they are watched. */
export class Ring<I extends CacheItem = CacheItem> {
  readonly line = new Line<I>()
  readonly #bounds: RingBounds
  readonly #clusters = new Map<string, { readonly line: Line<I>; watchers: number }>()
  readonly #touched = new Set<Line<I>>()
  /** The end of the line at the end of the last minutes. */
  readonly #minutes: number[] = []
  #bytes = 0
  #floor: number

  /** `floor`: the revision after which it is complete. */
  constructor(floor: number, bounds: RingBounds) {
    this.#floor = floor
    this.#bounds = bounds
  }

  /** All events after this revision are here. */
  get floor(): number {
    return this.#floor
  }

  /** Whether no event after `revision` was dropped, nor some of those at it. */
  reaches(revision: number): boolean {
    if (revision === this.#floor) return this.line.at(this.line.start)?.revision !== revision
    return revision > this.#floor
  }

  push(event: CacheEvent<I>): void {
    this.#add(this.line, event)
    this.#bytes += event.size
    const cluster = this.#clusters.get(event.item.cluster)
    if (cluster !== undefined) this.#add(cluster.line, event)
    while (this.line.end - this.line.start > this.#bounds.events || this.#bytes > this.#bounds.bytes)
      this.drop()
  }

  /** To be called once a minute. */
  age(): void {
    this.#minutes.push(this.line.end)
    if (this.#minutes.length <= this.#bounds.minutes) return
    const old = this.#minutes.shift() ?? 0
    while (this.line.start < old) this.drop()
  }

  /** Drops the oldest event. */
  drop(): void {
    const event = this.line.shift()
    if (event === undefined) return
    this.#bytes -= event.size
    this.#floor = event.revision
    const line = this.#clusters.get(event.item.cluster)?.line
    if (line?.at(line.start) === event) line.shift()
  }

  /** Wakes the readers of lines with new events since the last call. */
  wake(): void {
    for (const line of this.#touched) line.wake()
    this.#touched.clear()
  }

  /** Wakes all readers: the watch is over. */
  end(): void {
    this.line.wake()
    for (const { line } of this.#clusters.values()) line.wake()
  }

  /** The line of one cluster, which begins now; to be returned with `leave`. */
  join(cluster: string): Line<I> {
    const known = this.#clusters.get(cluster)
    if (known !== undefined) {
      known.watchers++
      return known.line
    }
    const line = new Line<I>()
    this.#clusters.set(cluster, { line, watchers: 1 })
    return line
  }

  /** The number of clusters with a watch of their own. */
  get watchedClusters(): number {
    return this.#clusters.size
  }

  leave(cluster: string): void {
    const known = this.#clusters.get(cluster)
    if (known !== undefined && --known.watchers === 0) this.#clusters.delete(cluster)
  }

  /**
   * The position of the first event after `revision`. If several events have that revision, the first of them: a watch
   * may have ended between them, and must get one twice rather than miss one.
   */
  positionAfter(revision: number): number {
    const next = this.#firstFrom(revision + 1)
    return this.line.at(next - 2)?.revision === revision ? this.#firstFrom(revision) : next
  }

  /** Events after `revision`, newest first. */
  *backTo(revision: number): Generator<CacheEvent<I>> {
    for (let i = this.line.end - 1; i >= this.line.start; i--) {
      const event = this.line.at(i)
      if (event === undefined || event.revision <= revision) return
      yield event
    }
  }

  #add(line: Line<I>, event: CacheEvent<I>): void {
    line.push(event)
    this.#touched.add(line)
  }

  #firstFrom(revision: number): number {
    let [low, high] = [this.line.start, this.line.end]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.line.at(middle)?.revision ?? 0) < revision) low = middle + 1
      else high = middle
    }
    return low
  }
}
