import { LRUCache } from 'lru-cache'
import { Readers } from '../async/awaitable.ts'
import { Ticker, type WatchSource } from '../cache/following.ts'
import { Histories } from '../cache/histories.ts'
import { idOf, SlabItem } from '../cache/page.ts'
import { idsUnder, PageMap, type Snapshot } from '../cache/pages.ts'
import { CacheEvent, Ring } from '../cache/ring.ts'
import type { ServedKind } from '../cache/selection.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import { atVersion, encodeObject, type Texts } from '../wire/encode.ts'
import type { OwnKind } from './kind.ts'

/** One object of a map, at one resourceVersion. */
export class MapItem extends SlabItem {
  readonly object: KubeObject
  /** The object without resourceVersion. */
  readonly content: KubeObject

  constructor(key: ObjectKey, content: KubeObject, revision: number) {
    const presented = atVersion(content, String(revision))
    const { bytes } = encodeObject(presented)
    super(
      key,
      { slab: bytes, start: 0, length: bytes.length },
      { revision, labels: content.metadata.labels ?? {} },
    )
    this.object = presented
    this.content = content
  }
  get annotations(): Texts {
    return this.object.metadata.annotations ?? {}
  }
  get uid(): string {
    return this.object.metadata.uid ?? ''
  }
  at(revision: number): MapItem {
    return new MapItem(this, this.content, revision)
  }
}

/** Events that are kept for watches. */
const bounds = { events: 10_000, bytes: 16 * 1024 * 1024, minutes: 15 }
/** Snapshots for the next pages of lists, and their milliseconds. */
const kept = { max: 50, ttl: 5 * 60_000 }

/** The objects of a map with the events of their changes. */
export class MapSource implements WatchSource {
  readonly about: Pick<OwnKind, 'group' | 'resource'>
  readonly kind: ServedKind
  readonly ticker = new Ticker(1_000)
  readonly readers = new Readers()
  readonly bookmarkEvery = 60_000
  readonly closed: AbortSignal = new AbortController().signal
  readonly ring: Ring<MapItem>
  readonly #items = new PageMap<MapItem>()
  readonly #snapshots = new LRUCache<number, Snapshot<MapItem>>(kept)
  /** Microseconds since the epoch at the start, so that revisions of an earlier process are smaller. */
  #revision = Date.now() * 1000

  constructor(about: Pick<OwnKind, 'group' | 'resource'>, kind: ServedKind) {
    this.about = about
    this.kind = kind
    this.ring = new Ring(this.#revision, bounds, new Histories())
  }

  get revision(): number {
    return this.#revision
  }

  find(key: ObjectKey): MapItem | undefined {
    return this.#items.get(idOf(key))
  }

  snapshot(): Snapshot<MapItem> {
    return this.#items.snapshot()
  }

  /** Keeps a snapshot for the next page of a list. */
  keep(revision: number, snapshot: Snapshot<MapItem>): void {
    this.#snapshots.set(revision, snapshot)
  }

  /** undefined: it is not kept any more. */
  kept(revision: number): Snapshot<MapItem> | undefined {
    return revision === this.#revision ? this.snapshot() : this.#snapshots.get(revision)
  }

  /** The keys of the objects of a logical cluster. */
  keys(cluster: string): readonly ObjectKey[] {
    const runs = [...this.snapshot().runs(idsUnder(`${cluster}/`))]
    return runs.flatMap(({ page, from, to }) => page.items.slice(from, to).map(({ key }) => key))
  }

  put(key: ObjectKey, object: KubeObject): void {
    const previous = this.find(key)
    const item = new MapItem(key, object, ++this.#revision)
    this.#items.put(item)
    this.#push(new CacheEvent(previous === undefined ? 'ADDED' : 'MODIFIED', item, previous))
  }

  remove(key: ObjectKey): boolean {
    const previous = this.find(key)
    if (previous === undefined) return false
    this.#items.remove(previous.id)
    this.#push(new CacheEvent('DELETED', previous.at(++this.#revision), previous))
    return true
  }

  #push(event: CacheEvent<MapItem>): void {
    this.ring.push(event)
    this.ring.wake()
  }
}
