import { Ticker, type WatchSource } from '../../framework/cache/following.ts'
import { idOf } from '../../framework/cache/page.ts'
import type { PageMap, Snapshot } from '../../framework/cache/pages.ts'
import { CacheEvent, Ring } from '../../framework/cache/ring.ts'
import type { ServedKind } from '../../framework/cache/selection.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import { CopiedItem } from './item.ts'

/** The shard remembers more: who comes from longer ago is served there until he has caught up. */
const bounds = { events: 10_000, bytes: 16 * 1024 * 1024, minutes: 5 }

/** What a list has said, and where a watch goes on. */
export interface Listed {
  readonly kind: ServedKind
  readonly items: PageMap<CopiedItem>
  readonly revision: number
  readonly bytes: number
}

/**
 * What a shard has of one resource in all logical clusters, complete up to `revision`: the newest event or bookmark that
 * has come. Whether the shard is further, nobody here knows.
 */
export class Copy implements WatchSource {
  readonly ticker = new Ticker(1_000)
  readonly bookmarkEvery = 60_000
  readonly kind: ServedKind
  readonly ring: Ring<CopiedItem>
  readonly #items: PageMap<CopiedItem>
  readonly #closing = new AbortController()
  #revision: number
  #bytes: number

  constructor({ kind, items, revision, bytes }: Listed) {
    this.kind = kind
    this.ring = new Ring(revision, bounds)
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

  /** Where in the ring one goes on behind a version; undefined: what came after it is not here any more. */
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

  /** Takes over what the shard tells, in its order. */
  apply(events: readonly ItemEvent[]): void {
    for (const { type, item } of events) {
      if (type === 'DELETED') this.#remove(item)
      else if (type !== 'BOOKMARK') this.#put(CopiedItem.of(item))
      this.#revision = Math.max(this.#revision, Number(item.meta.resourceVersion))
    }
    this.ring.wake()
  }

  /** Watches end, and may go on elsewhere where they were. */
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
