import type { TimedQuery } from '../../framework/cache/following.ts'
import type { Histories } from '../../framework/cache/histories.ts'
import { idOf, pageBytes, pageSize } from '../../framework/cache/page.ts'
import { type IdRange, idsUnder, PageMap, type Snapshot } from '../../framework/cache/pages.ts'
import { CacheEvent, Ring, type RingBounds } from '../../framework/cache/ring.ts'
import type { ServedKind } from '../../framework/cache/selection.ts'
import type { ItemList, ItemWatch, ListQuery } from '../../framework/contract/storage.ts'
import type { Steps } from '../../framework/json/json.ts'
import { internalError } from '../../framework/meta/errors.ts'
import { type ClusterScope, groupResource, type ObjectKey } from '../../framework/meta/object.ts'
import type { StoredValue } from '../store/store.ts'
import { Arena, type StoredResource } from './codec.ts'
import type { Builder, CachedItem, Loaded } from './item.ts'
import { type ListSource, list } from './listing.ts'
import { watch } from './watching.ts'

/** Called synchronously while a change is applied: reads see it already, watches do not. */
export type CacheHandler = (event: CacheEvent<CachedItem>) => void

/** The newest applied revision of the cache. */
export interface AppliedRevision {
  readonly revision: number
  /** Resolves at `revision`, when `signal` aborts, after `milliseconds` if given, or when the cache is closed. */
  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void>
}

/** Shared by all resources of a cache. */
export interface CacheContext
  extends Pick<ListSource, 'newest' | 'ticker' | 'readers' | 'bookmarkEvery' | 'waitTimeout' | 'closed'> {
  readonly builder: Builder
  readonly progress: AppliedRevision
  readonly bounds: RingBounds
  readonly histories: Histories
  /** Logs a stored object that is damaged. */
  damaged(stored: StoredValue): void
  /** Calls a handler; its failure is logged, and stops nothing. */
  guard(handle: () => void): void
  /** Calls the handlers of the resource, then those of the whole cache. */
  changed(cache: ResourceCache, event: CacheEvent<CachedItem>, handlers: Iterable<CacheHandler>): void
}

/** The number of snapshots that are kept for lists with pages. */
const kept = 8

const scopeRange = (cluster: ClusterScope) => idsUnder(cluster === '*' ? '' : `${cluster}/`)

/** All objects of one resource in memory, in list order, and its newest changes. */
export class ResourceCache implements ListSource {
  readonly resource: StoredResource
  /** The plural with its group: `widgets.example.com`. */
  readonly name: string
  readonly ring: Ring<CachedItem>
  /** The shapes of all objects since the start, deleted ones included. */
  readonly shapes = new Set<number>()
  readonly #context: CacheContext
  readonly #items = new PageMap<CachedItem>()
  readonly #handlers = new Set<CacheHandler>()
  readonly #kept = new Map<number, Snapshot<CachedItem>>()
  /** The revisions of damaged objects by id: they are not in the items. */
  readonly #damaged = new Map<string, number>()
  readonly #loading: Loaded[] = []
  /** The revision of the newest event. */
  #newest = 0
  #loadingBytes = 0

  /** `floor`: the revision after which it is told all changes. */
  constructor(resource: StoredResource, context: CacheContext, floor: number) {
    this.resource = resource
    this.name = groupResource(resource.group, resource.resource)
    this.#context = context
    this.ring = new Ring<CachedItem>(floor, context.bounds, context.histories)
  }

  get revision(): number {
    return this.#context.progress.revision
  }
  get newest(): number {
    return this.#context.newest
  }
  get readers(): ListSource['readers'] {
    return this.#context.readers
  }

  get ticker(): ListSource['ticker'] {
    return this.#context.ticker
  }
  get bookmarkEvery(): number {
    return this.#context.bookmarkEvery
  }
  get waitTimeout(): number {
    return this.#context.waitTimeout
  }
  get closed(): AbortSignal {
    return this.#context.closed
  }
  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void> {
    return this.#context.progress.reached(revision, signal, milliseconds)
  }

  /** The same as `get`, with the arguments of an informer. */
  readonly find = (cluster: string, namespace: string, name: string): CachedItem | undefined =>
    this.get({ cluster, namespace, name })

  /** Throws 500 for a damaged object. */
  get(key: ObjectKey): CachedItem | undefined {
    const id = idOf(key)
    if (this.#damaged.size > 0) this.checkIntact({ from: id, to: `${id}\0` }, false)
    return this.#items.get(id)
  }

  checkIntact({ from, to }: IdRange, isFiltered: boolean): void {
    const { resource } = this.resource
    for (const [id, revision] of this.#damaged) {
      if (id < from || id >= to) continue
      throw internalError(
        isFiltered
          ? `a stored object of ${resource} is damaged, the log names it`
          : `the stored object ${id} of ${resource} is damaged (revision ${revision})`,
      )
    }
  }

  /** The objects of one cluster, or of all, as they are now. */
  items(cluster: ClusterScope = '*'): Iterable<CachedItem> {
    return cluster === '*' ? this.#all() : this.#items.within(scopeRange(cluster))
  }

  *#all(): Generator<CachedItem> {
    for (const { page, from, to } of this.snapshot().runs(scopeRange('*'))) yield* page.items.slice(from, to)
  }

  count(cluster: ClusterScope = '*'): number {
    return cluster === '*' ? this.#items.size : this.#items.count(scopeRange(cluster))
  }

  /** How many objects of one cluster are in one namespace. */
  countIn(cluster: string, namespace: string): number {
    return this.#items.count(idsUnder(`${cluster}/${namespace}/`))
  }

  /** Whether it has no objects, no events, and nobody who waits for some. */
  get isIdle(): boolean {
    return this.#items.size + this.#damaged.size + this.#handlers.size === 0 && this.ring.isIdle
  }

  snapshot(): Snapshot<CachedItem> {
    return this.#items.snapshot()
  }

  snapshotAt(revision: number): Snapshot<CachedItem> | undefined {
    // Above the revision while a commit is applied.
    const isAhead = this.#newest > this.revision
    if (revision === this.revision && !isAhead) return this.snapshot()
    if (revision < this.ring.floor) return undefined
    const known = this.#kept.get(revision)
    if (known !== undefined) return known
    const changes = new Map<string, CachedItem | undefined>()
    for (const { item, previous } of this.ring.backTo(revision)) changes.set(item.id, previous)
    return this.snapshot().with(changes)
  }

  keep(revision: number, snapshot: Snapshot<CachedItem>): void {
    this.#kept.set(revision, snapshot)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > kept && oldest !== undefined) this.#kept.delete(oldest)
  }

  /** A list. Throws `StatusError`s at the first `next()`. */
  list(kind: ServedKind, signal: AbortSignal, query: ListQuery): ItemList {
    return list(this, kind, signal, query)
  }

  /** A watch. Throws `StatusError`s at the first `next()`, and 410 when the reader is too slow. */
  watch(kind: ServedKind, signal: AbortSignal, query: TimedQuery): ItemWatch {
    return watch(this, kind, signal, query)
  }

  /**
   * Calls `handler` for every change from now on; with `replay` first for every existing object. Returns the function
   * that unsubscribes.
   */
  subscribe(handler: CacheHandler, options: { readonly replay: boolean }): () => void {
    const replay = (item: CachedItem) => () => handler(new CacheEvent('ADDED', item))
    if (options.replay) for (const item of this.items()) this.#context.guard(replay(item))
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  /**
   * Adds one stored value of before the ring begins; equal texts of the keys should be one string. Call `loaded` after the
   * last one.
   */
  load(key: ObjectKey, stored: StoredValue): void {
    if (stored.damaged) this.#isolate(key, stored)
    else {
      this.#loading.push({ key, stored })
      this.#loadingBytes += stored.value.length
    }
    if (this.#loading.length === pageSize || this.#loadingBytes >= pageBytes) this.loaded()
  }

  /** After loading: presents decorated labels. */
  settle(): void {
    for (const item of this.items()) {
      const decorated = this.#context.builder.redecorate(this.resource, item, item.revision)
      if (decorated !== undefined) this.#items.put(decorated)
    }
    this.#items.join()
  }

  /** Copies page by page into the slab: copies in between would fragment the memory. */
  loaded(): void {
    const loading = this.#loading.splice(0)
    this.#loadingBytes = 0
    const arena = Arena.for(loading.map(({ stored }) => stored))
    for (const each of loading) this.#items.load(this.#build(each, arena))
    this.#items.settle()
  }

  /** Applies one change; `value` is absent when the object was deleted at `revision`. */
  apply(key: ObjectKey, value: StoredValue | undefined, revision: number): void {
    this.#damaged.delete(idOf(key))
    const previous = this.get(key)
    if (value?.damaged) this.#isolate(key, value)
    else if (value !== undefined) {
      const item = this.#build({ key: previous ?? this.#shareTexts(key), stored: value })
      this.#record(new CacheEvent(previous === undefined ? 'ADDED' : 'MODIFIED', item, previous))
    } else if (previous !== undefined) {
      this.#record(new CacheEvent('DELETED', previous.at(revision), previous))
    }
  }

  #isolate(key: ObjectKey, stored: StoredValue): void {
    const id = idOf(key)
    this.#items.remove(id)
    this.#damaged.set(id, stored.modified)
    this.#context.damaged(stored)
  }

  #build(loaded: Loaded, arena?: Arena): CachedItem {
    const item = this.#context.builder.build(this.resource, loaded, arena)
    this.shapes.add(item.shape)
    return item
  }

  /** Decorates the objects of a cluster again, in steps; those that change are MODIFIED at `revision`. */
  *redecorate(cluster: ClusterScope, revision: number): Steps<void> {
    const before = this.snapshotAt(this.revision)
    if (before !== undefined) this.keep(this.revision, before)
    for (const item of this.items(cluster)) {
      const decorated = this.#context.builder.redecorate(this.resource, item, revision)
      if (decorated !== undefined) this.#record(new CacheEvent('MODIFIED', decorated, item))
      yield
    }
  }

  /** Drops old events and snapshots; called once a minute. */
  age(): void {
    this.ring.age()
    this.#forget()
  }

  #forget(): void {
    for (const revision of this.#kept.keys()) if (revision < this.ring.floor) this.#kept.delete(revision)
  }

  #record(event: CacheEvent<CachedItem>): void {
    if (event.type === 'DELETED') this.#items.remove(event.item.id)
    else this.#items.put(event.item)
    this.ring.push(event)
    this.#newest = event.revision
    this.#forget()
    this.#context.changed(this, event, this.#handlers)
  }

  /** The key with the same string objects as a neighbour's, to save memory. */
  #shareTexts(key: ObjectKey): ObjectKey {
    const near = this.#items.near(idOf(key))
    return {
      cluster: near?.cluster === key.cluster ? near.cluster : key.cluster,
      namespace: near?.namespace === key.namespace ? near.namespace : key.namespace,
      name: key.name,
    }
  }
}
