import { setImmediate as turn } from 'node:timers/promises'
import { nowOrInTurns, Pace, Readers } from '../../framework/async/awaitable.ts'
import { Ticker } from '../../framework/cache/following.ts'
import { Histories } from '../../framework/cache/histories.ts'
import { defaultRing, type Ring, type RingBounds } from '../../framework/cache/ring.ts'
import type { Steps } from '../../framework/json/json.ts'
import type { ClusterScope } from '../../framework/meta/object.ts'
import { Compacted, type Store, type StoredValue, type StoreEvent } from '../store/store.ts'
import {
  KeyParser,
  type ParsedKey,
  parseStorageKey,
  registryEnd,
  registryPrefix,
  SharedTexts,
  type StoredResource,
} from './codec.ts'
import type { WatchCache, WatchCacheOptions } from './contract.ts'
import { IdleCaches } from './idle.ts'
import { Builder, type WatchCacheEvent } from './item.ts'
import { type AppliedRevision, type CacheContext, type CacheHandler, ResourceCache } from './resource.ts'

/** Milliseconds after which other requests have their turn: the store has the commits of many requests in one group. */
const longestStep = 15

/** Loads all objects, replays the log of the store, and resolves when the cache is current. */
export async function openWatchCache(store: Store, options: WatchCacheOptions): Promise<WatchCache> {
  for (;;) {
    const cache = new LiveCache(store, options)
    try {
      await cache.load()
      return cache
    } catch (error) {
      cache.close()
      if (!(error instanceof Compacted)) throw error
      options.log.info({ compacted: error.oldest }, 'store compacted during the initial read, reading again')
    }
  }
}

class LiveCache implements WatchCache, CacheContext {
  readonly builder = new Builder()
  readonly ticker = new Ticker(1_000)
  readonly readers = new Readers()
  readonly bounds: RingBounds
  readonly histories: Histories
  readonly bookmarkEvery: number
  readonly waitTimeout: number
  /** The oldest revision whose changes the cache has. */
  readonly #floor: number
  readonly #store: Store
  readonly #options: WatchCacheOptions
  readonly #resources = new Map<string, ResourceCache>()
  readonly #idle: IdleCaches
  readonly #handlers = new Set<(cache: ResourceCache, event: WatchCacheEvent) => void>()
  readonly #closing = new AbortController()
  readonly progress: RevisionProgress
  readonly #touched = new Set<Ring>()
  readonly #texts = new SharedTexts()
  /** The work that belongs to the change that is applied. */
  readonly #following: Steps<void>[] = []
  readonly #aging: NodeJS.Timeout

  constructor(store: Store, options: WatchCacheOptions) {
    this.#store = store
    this.#options = options
    this.bounds = { ...defaultRing, ...options.ring }
    this.histories = new Histories(options.mostHistory)
    this.bookmarkEvery = options.bookmarkEvery ?? 60_000
    this.waitTimeout = options.waitTimeout ?? 3_000
    this.#floor = store.compacted
    this.#idle = new IdleCaches(store.compacted)
    this.progress = new RevisionProgress(store.compacted)
    this.#aging = setInterval(() => this.#age(), 60_000).unref()
  }

  get revision(): number {
    return this.progress.revision
  }

  get historyBytes(): number {
    return this.histories.bytes
  }

  damaged({ key, modified }: StoredValue): void {
    this.#options.log.error(
      { key, revision: modified },
      'a stored object is damaged: restore it from a backup',
    )
  }

  get newest(): number {
    return this.#store.revision
  }

  get closed(): AbortSignal {
    return this.#closing.signal
  }

  existing(group: string, resource: string, segment: string): ResourceCache | undefined {
    const name = `${group}/${resource}/${segment}`
    return this.#resources.get(name) ?? this.#revive(name)
  }

  resource(group: string, resource: string, segment: string): ResourceCache {
    const known = this.existing(group, resource, segment)
    if (known !== undefined) return known
    const cache = new ResourceCache({ group, resource, segment }, this, this.#idle.floor)
    this.#resources.set(`${group}/${resource}/${segment}`, cache)
    return cache
  }

  resources(): Iterable<ResourceCache> {
    return this.#resources.values()
  }

  #revive(name: string): ResourceCache | undefined {
    const cache = this.#idle.give(name)
    if (cache !== undefined) this.#resources.set(name, cache)
    return cache
  }

  #age(): void {
    for (const cache of this.#resources.values()) cache.age()
    this.#idle.take(this.#resources)
  }

  at(revision: number): Promise<void> {
    return this.progress.at(revision)
  }

  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void> {
    return this.progress.reached(revision, signal, milliseconds)
  }

  subscribe(handler: (cache: ResourceCache, event: WatchCacheEvent) => void): () => void {
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  changed(cache: ResourceCache, event: WatchCacheEvent, handlers: Iterable<CacheHandler>): void {
    this.#touched.add(cache.ring)
    for (const handler of handlers) this.guard(() => handler(event))
    for (const handler of this.#handlers) this.guard(() => handler(cache, event))
  }

  redecorate(resource: StoredResource, cluster: ClusterScope, revision: number): void {
    const cache = this.existing(resource.group, resource.resource, resource.segment)
    if (cache !== undefined) this.#following.push(cache.redecorate(cluster, revision))
  }

  close(): void {
    if (this.closed.aborted) return
    this.#closing.abort()
    clearInterval(this.#aging)
    this.progress.close()
    for (const { ring } of this.#resources.values()) ring.end()
  }

  /** Loads the oldest state of the store and replays its log, which etcd sends meanwhile: the rings have the events of before a restart. */
  async load(): Promise<void> {
    const { revision } = this.#store
    const log = this.#store.watch('', this.#floor, this.closed)
    const first = log.next()
    first.catch(() => undefined)
    const keys = new KeyParser(parsed => this.#resourceOf(parsed))
    let objects = 0
    for await (const values of this.#store.range(registryPrefix, registryEnd, { revision: this.#floor })) {
      for (const value of values) {
        const found = keys.parse(value.key)
        found?.resource.load(found.key, value)
      }
      objects += values.length
      this.#options.loading?.(objects)
      // Yields, so that the progress can be shown.
      await turn()
    }
    for (const resource of this.#resources.values()) resource.loaded()
    if (this.#options.decorate !== undefined) this.builder.use(this.#options.decorate(this))
    for (const resource of this.#resources.values()) resource.settle()
    const running = this.#run(log, first)
    // When the log ends the cache is closed, too: the reason is that of the log.
    await Promise.race([running, this.at(revision).catch(() => running)])
  }

  async #run(log: StoreLog, first: ReturnType<StoreLog['next']>): Promise<void> {
    this.#options.signal.addEventListener('abort', () => this.close(), { once: true })
    try {
      for (let next = await first; next.done !== true; next = await log.next()) {
        const work = nowOrInTurns(this.#apply(next.value), new Pace())
        if (work instanceof Promise) await work
      }
      this.close()
    } catch (error) {
      this.#options.log.error({ error: String(error) }, 'watch cache stopped')
      this.close()
      throw error
    }
  }

  /** Pauses between commits only, so that each becomes visible as a whole, and where objects are decorated again after it. */
  *#apply(events: readonly StoreEvent[]): Steps<void> {
    let since = performance.now()
    for (const [i, { key, value, revision }] of events.entries()) {
      const parsed = parseStorageKey(key)
      if (parsed !== undefined) this.#resourceOf(parsed).apply(this.#texts.inKey(parsed.key), value, revision)
      const following = events[i + 1]?.revision
      if (following === revision) continue
      for (let next = this.#following.shift(); next; next = this.#following.shift()) yield* next
      if (following === undefined || performance.now() - since < longestStep) continue
      this.#advance(revision)
      yield turn()
      since = performance.now()
    }
    this.#advance(events.at(-1)?.revision ?? this.revision)
  }

  #advance(revision: number): void {
    this.progress.advance(revision)
    this.#wake()
  }

  #wake(): void {
    for (const ring of this.#touched) ring.wake()
    this.#touched.clear()
  }

  /** A failing handler must not stop the cache. */
  guard(handle: () => void): void {
    try {
      handle()
    } catch (error) {
      this.#options.log.error({ error: String(error) }, 'watch cache handler failed')
    }
  }

  #resourceOf({ resource }: ParsedKey): ResourceCache {
    return this.resource(resource.group, resource.resource, resource.segment)
  }
}

type StoreLog = ReturnType<Store['watch']>

/** A revision that only increases, and the callers that wait for one. */
class RevisionProgress implements AppliedRevision {
  /** The newest revision; `advance` sets it. */
  revision: number
  #closed = false
  readonly #waiters = new Set<{ readonly revision: number; resolve(): void; reject(error: Error): void }>()

  constructor(revision: number) {
    this.revision = revision
  }

  advance(revision: number): void {
    this.revision = revision
    for (const waiter of this.#waiters) {
      if (waiter.revision > revision) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }

  /** Resolves at `revision`; rejects if the cache is closed before. */
  at(revision: number): Promise<void> {
    if (revision <= this.revision) return Promise.resolve()
    if (this.#closed) return Promise.reject(closedError(revision))
    return new Promise((resolve, reject) => this.#waiters.add({ revision, resolve, reject }))
  }

  /** Resolves at `revision`, when `signal` aborts, after `milliseconds` if given, or when the cache is closed. */
  reached(revision: number, signal: AbortSignal, milliseconds?: number): Promise<void> {
    if (revision <= this.revision || this.#closed || signal.aborted) return Promise.resolve()
    return new Promise(resolve => {
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        this.#waiters.delete(waiter)
        resolve()
      }
      const waiter = { revision, resolve: done, reject: done }
      const timer = milliseconds === undefined ? undefined : setTimeout(done, milliseconds)
      signal.addEventListener('abort', done)
      this.#waiters.add(waiter)
    })
  }

  close(): void {
    this.#closed = true
    for (const waiter of this.#waiters) waiter.reject(closedError(waiter.revision))
    this.#waiters.clear()
  }
}

const closedError = (revision: number): Error =>
  new Error(`the watch cache was closed before revision ${revision} was applied`)
