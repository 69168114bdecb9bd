import type { ItemEvent } from '../contract/item.ts'
import type { CacheEvent } from './event.ts'
import type { CacheItem } from './item.ts'

/** How a reader sees events. Readers with the same `name` see the same, and are handed the same arrays. */
export interface EventView {
  readonly name: string
  /** What this event is to the reader; undefined: nothing. Absent when every event is seen as it is. */
  readonly see?: (event: CacheEvent) => ItemEvent | undefined
}

/**
 * A queue of events that forgets its old end. Readers keep positions: the number of events that ever went in before
 * theirs. Nothing is kept per reader, except the wish to be woken.
 */
export class Line<I extends CacheItem = CacheItem> {
  #events: CacheEvent<I>[] = []
  /** Events before this index of the array are forgotten already. */
  #head = 0
  #start = 0
  readonly #handed = new Map<string, readonly ItemEvent[]>()
  readonly #waiting = new Set<() => void>()

  /** The position of the oldest event that is still there. */
  get start(): number {
    return this.#start
  }

  /** The position behind the newest event. */
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

  /** Events at positions [from, to) as somebody sees them. */
  read(from: number, to: number, sight: EventView): readonly ItemEvent[] {
    const name = `${from} ${to} ${sight.name}`
    const known = this.#handed.get(name)
    if (known !== undefined) return known
    const offset = this.#head - this.#start
    const events = this.#events.slice(from + offset, to + offset)
    const seen = sight.see === undefined ? events : events.flatMap(event => sight.see?.(event) ?? [])
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
