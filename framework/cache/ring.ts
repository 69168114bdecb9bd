import type { ItemEvent } from '../contract/item.ts'
import { Histories, type RingHistory } from './histories.ts'
import type { CacheItem } from './page.ts'

/** How many events of one resource are kept: the first limit that is reached applies. */
export interface RingBounds {
  readonly events: number
  readonly bytes: number
  readonly minutes: number
}

export const defaultRing: RingBounds = { events: 100_000, bytes: 64 * 1024 * 1024, minutes: 15 }

/** The newest events of one resource, and lines of single clusters while they are watched. */
export class Ring<I extends CacheItem = CacheItem> implements RingHistory {
  readonly line = new Line<I>()
  readonly #bounds: RingBounds
  #histories: Histories
  readonly #clusters = new Map<string, { readonly line: Line<I>; watchers: number }>()
  readonly #touched = new Set<Line<I>>()
  /** The end of the line at the end of the last minutes. */
  readonly #minutes: number[] = []
  #bytes = 0
  #floor: number

  /** `floor`: the revision after which it is complete. `histories`: limits the bytes of several rings together. */
  constructor(floor: number, bounds: RingBounds, histories: Histories) {
    this.#floor = floor
    this.#bounds = bounds
    this.#histories = histories
  }

  /** All events after this revision are here. */
  get floor(): number {
    return this.#floor
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether there are no events, and no readers who wait for some. */
  get isIdle(): boolean {
    return this.#bytes === 0 && this.watchedClusters === 0 && !this.line.isAwaited
  }

  /** Whether no event after `revision` was dropped, nor some of those at it. */
  reaches(revision: number): boolean {
    if (revision === this.#floor) return this.line.at(this.line.start)?.revision !== revision
    return revision > this.#floor
  }

  push(event: CacheEvent<I>): void {
    event.previous?.leave()
    this.#add(this.line, event)
    const cluster = this.#clusters.get(event.item.cluster)
    if (cluster !== undefined) this.#add(cluster.line, event)
    this.#grow(event.size)
    while (this.line.end - this.line.start > this.#bounds.events) this.drop()
    this.shrink(this.#bounds.bytes)
    // Not for each event that is dropped: it looks at all rings.
    if (this.#histories.bytes > this.#histories.most) this.#histories.shrink()
  }

  shrink(bytes: number): void {
    while (this.#bytes > bytes) this.drop()
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
    this.#grow(-event.size)
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
    this.#histories.remove(this)
    this.#histories = new Histories()
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

  /** The number of clusters with a separate line, because they are watched. */
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
    const next = this.firstFrom(revision + 1)
    return this.line.at(next - 2)?.revision === revision ? this.firstFrom(revision) : next
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

  #grow(bytes: number): void {
    if (this.#bytes === 0) this.#histories.add(this)
    this.#bytes += bytes
    if (this.#bytes === 0) this.#histories.remove(this)
    this.#histories.bytes += bytes
  }

  /** The position of the first event at `revision` or after it. */
  firstFrom(revision: number): number {
    let [low, high] = [this.line.start, this.line.end]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.line.at(middle)?.revision ?? 0) < revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

/**
 * One change of one object, as subscribers and the ring have it. The item of a deletion is the last state at the
 * revision of the deletion.
 */
export class CacheEvent<I extends CacheItem = CacheItem> implements ItemEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly item: I
  readonly previous?: I
  #entered: ItemEvent | undefined
  #left: ItemEvent | undefined

  constructor(type: CacheEvent['type'], item: I, previous?: I) {
    this.type = type
    this.item = item
    if (previous !== undefined) this.previous = previous
  }

  get revision(): number {
    return this.item.revision
  }

  /** The approximate number of bytes that the ring retains for it. */
  get size(): number {
    return this.item.length + (this.previous?.length ?? 0) + 512
  }

  /** The event for a watch in which the object becomes visible. */
  get entered(): ItemEvent {
    this.#entered ??= this.type === 'ADDED' ? this : { type: 'ADDED', item: this.item }
    return this.#entered
  }

  /** The event for a watch in which the object is no longer visible: its last visible state, at the new version. */
  get left(): ItemEvent {
    this.#left ??=
      this.type === 'DELETED' || this.previous === undefined ? this : departed(this.previous, this.revision)
    return this.#left
  }
}

/** How many views of one line are remembered: clients choose them, and a line without new events forgets none. */
const mostHanded = 1_000

const departed = (previous: CacheItem, revision: number): ItemEvent => ({
  type: 'DELETED',
  item: previous.at(revision),
  previous,
})

/** How a reader sees events. Readers with the same `name` get the same arrays. */
export interface EventView {
  readonly name: string
  /** The event for the reader; undefined to skip it. Absent if the reader gets all events unchanged. */
  readonly see?: (event: CacheEvent) => ItemEvent | undefined
}

/**
 * A queue of events that drops old ones. Readers keep positions: the number of events before theirs since the
 * beginning. The queue keeps nothing per reader except wake-up callbacks.
 */
export class Line<I extends CacheItem = CacheItem> {
  /** Undefined before `#head`. */
  #events: (CacheEvent<I> | undefined)[] = []
  #head = 0
  #start = 0
  readonly #handed = new Map<string, readonly ItemEvent[]>()
  readonly #waiting = new Set<() => void>()

  /** The position of the oldest event. */
  get start(): number {
    return this.#start
  }

  /** The position after the newest event. */
  get end(): number {
    return this.#start + this.#events.length - this.#head
  }

  at(position: number): CacheEvent<I> | undefined {
    return this.#events[position - this.#start + this.#head]
  }

  push(event: CacheEvent<I>): void {
    this.#events.push(event)
    this.#handed.clear()
  }

  shift(): CacheEvent<I> | undefined {
    const event = this.#events[this.#head]
    if (event === undefined) return undefined
    this.#events[this.#head] = undefined
    this.#head++
    this.#start++
    this.#handed.clear()
    if (this.#head >= 64 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head)
      this.#head = 0
    }
    return event
  }

  /** Events at the positions [from, to) as a reader sees them. */
  read(from: number, to: number, view: EventView): readonly ItemEvent[] {
    const name = `${from} ${to} ${view.name}`
    const known = this.#handed.get(name)
    if (known !== undefined) return known
    const offset = this.#head - this.#start
    const events = this.#events.slice(from + offset, to + offset) as CacheEvent<I>[]
    const seen = view.see === undefined ? events : events.flatMap(event => view.see?.(event) ?? [])
    if (this.#handed.size >= mostHanded) this.#handed.clear()
    this.#handed.set(name, seen)
    return seen
  }

  /** Calls `wake` once, at the next `wake()`. */
  wait(wake: () => void): void {
    this.#waiting.add(wake)
  }

  get isAwaited(): boolean {
    return this.#waiting.size > 0
  }

  forget(wake: () => void): void {
    this.#waiting.delete(wake)
  }

  wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}
