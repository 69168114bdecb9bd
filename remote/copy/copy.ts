import { Readers } from '../../framework/async/awaitable.ts'
import { Ticker, type WatchSource } from '../../framework/cache/following.ts'
import type { Histories } from '../../framework/cache/histories.ts'
import { idOf } from '../../framework/cache/page.ts'
import type { PageMap, Snapshot } from '../../framework/cache/pages.ts'
import { CacheEvent, Ring } from '../../framework/cache/ring.ts'
import type { ServedKind } from '../../framework/cache/selection.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import { CopiedItem } from './item.ts'

/** Limits of the events that are kept. The shard keeps more: a client with an older resourceVersion watches there. */
const bounds = { events: 10_000, bytes: 16 * 1024 * 1024, minutes: 5 }

/** A list: its objects, and the resourceVersion from which a watch continues. */
export interface Listed {
  readonly kind: ServedKind
  readonly items: PageMap<CopiedItem>
  readonly revision: number
  readonly bytes: number
}

/**
 * The objects of one resource in all logical clusters, complete up to `revision`, that of the last event or bookmark.
 * The shard may be ahead.
 */
export class Copy implements WatchSource {
  readonly ticker = new Ticker(1_000)
  readonly readers = new Readers()
  readonly bookmarkEvery = 60_000
  readonly kind: ServedKind
  readonly ring: Ring<CopiedItem>
  readonly #items: PageMap<CopiedItem>
  readonly #closing = new AbortController()
  #revision: number
  #bytes: number

  constructor({ kind, items, revision, bytes }: Listed, histories: Histories) {
    this.kind = kind
    this.ring = new Ring(revision, bounds, histories)
    this.#items = items
    this.#revision = revision
    this.#bytes = bytes
  }

  get revision(): number {
    return this.#revision
  }
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  /** Of all objects. */
  get bytes(): number {
    return this.#bytes
  }

  /** The position in the ring after a resourceVersion; undefined: the ring does not have all events since then. */
  positionAfter(revision: number): number | undefined {
    if (revision >= this.#revision) return this.ring.line.end
    return this.ring.reaches(revision) ? this.ring.positionAfter(revision) : undefined
  }

  find(key: ObjectKey): CopiedItem | undefined {
    return this.#items.get(idOf(key))
  }

  snapshot(): Snapshot<CopiedItem> {
    return this.#items.snapshot()
  }

  /** Applies events in the order of the shard. */
  apply(events: readonly ItemEvent[]): void {
    for (const { type, item } of events) {
      if (type === 'DELETED') this.#remove(item)
      else if (type !== 'BOOKMARK') this.#put(CopiedItem.of(item))
      this.#revision = Math.max(this.#revision, Number(item.meta.resourceVersion))
    }
    this.ring.wake()
  }

  /** Ends all watches. Clients may resume at the shard. */
  close(): void {
    this.#closing.abort()
    this.ring.end()
  }

  #put(item: CopiedItem): void {
    const previous = this.#items.get(item.id)
    this.#items.put(item)
    this.#bytes += item.length - (previous?.length ?? 0)
    this.ring.push(new CacheEvent(previous === undefined ? 'ADDED' : 'MODIFIED', item, previous))
  }

  #remove(item: Item): void {
    const last = CopiedItem.of(item)
    const previous = this.#items.get(last.id)
    if (previous === undefined) return
    this.#items.remove(last.id)
    this.#bytes -= previous.length
    this.ring.push(new CacheEvent('DELETED', last, previous))
  }
}
