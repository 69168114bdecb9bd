import type { ItemEvent } from '../contract/item.ts'
import type { CacheEvent } from './event.ts'
import type { CacheItem } from './page.ts'

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
  #events: CacheEvent<I>[] = []
  /** Events before this index of the array are dropped already. */
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
    this.#head++
    this.#start++
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
    const events = this.#events.slice(from + offset, to + offset)
    const seen = view.see === undefined ? events : events.flatMap(event => view.see?.(event) ?? [])
    this.#handed.set(name, seen)
    return seen
  }

  /** Calls `wake` once, at the next `wake()`. */
  wait(wake: () => void): void {
    this.#waiting.add(wake)
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
