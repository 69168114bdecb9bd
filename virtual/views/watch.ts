import { pacedMap } from '../../framework/async/awaitable.ts'
import { valuesAndWakes, Wake } from '../../framework/async/wake.ts'
import {
  bookmark,
  expired,
  type Item,
  type ItemEvent,
  type ItemWatch,
  itemOf,
  type RequestContext,
  type ResourceStorage,
  type Selection,
  type WatchQuery,
} from '../../framework/index.ts'
import type { ClusterFacts } from '../../openapi/index.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import { newestRevision } from '../shared/watching/newestrevision.ts'

/** How one request watches. */
export interface ShownWatching {
  readonly storage: ResourceStorage
  readonly clusters: ClusterIndex
  readonly kind: { readonly apiVersion: string; readonly kind: string }
  readonly shown: (item: Item, cluster?: ClusterFacts) => Item | undefined
  /** Called before each batch, which waits for the promise. */
  readonly renew: () => Promise<void> | undefined
  /** Whether the facts of logical clusters decide what is shown. */
  readonly followsClusters: boolean
  /** The revision since which the View is as it is. */
  readonly since: number
  /** Aborts when the View is changed or removed. */
  readonly changed: AbortSignal
}

/**
 * Watches shown objects. An object that enters the View is ADDED; one that leaves it is DELETED with its last visible
 * state, also when the facts of its logical cluster change. When the View changes, the watch expires, and so do
 * watches from a revision before the change: the client lists again.
 */
export async function* watchShown(
  watching: ShownWatching,
  ctx: RequestContext,
  query: WatchQuery,
): ItemWatch {
  const { changed, clusters } = watching
  const wake = new Wake()
  const ended = new AbortController()
  const signal = AbortSignal.any([ctx.signal, ended.signal])
  const watch = new ShownWatch(watching, { ...ctx, signal }, query)
  const stop = watching.followsClusters
    ? clusters.follow((cluster, before) => {
        watch.suspect(cluster, before)
        wake.ring()
      })
    : () => undefined
  const ring = (): void => wake.ring()
  changed.addEventListener('abort', ring)
  try {
    yield* watch.events(wake)
  } finally {
    ended.abort()
    changed.removeEventListener('abort', ring)
    stop()
  }
}

/** A logical cluster whose facts changed at `until`, before all events of its objects up to there were sent. */
interface Overlap {
  readonly before: ClusterFacts
  readonly until: number
  /** The objects whose first event since then was sent. */
  readonly done: Set<string>
}

/** Changes of one logical cluster between two events or bookmarks of the source. */
const mostOverlaps = 100

class ShownWatch {
  readonly #watching: ShownWatching
  readonly #ctx: RequestContext
  readonly #query: WatchQuery
  /** All events up to this revision were read. */
  #position = 0
  #suspects = new Map<string, ClusterFacts>()
  /** In the order of the changes. */
  readonly #overlaps = new Map<string, readonly Overlap[]>()

  constructor(watching: ShownWatching, ctx: RequestContext, query: WatchQuery) {
    this.#watching = watching
    this.#ctx = ctx
    this.#query = query
  }

  suspect(cluster: string, before: ClusterFacts): void {
    const { cluster: scope } = this.#query
    if (scope !== '*' && scope !== cluster) return
    if (!this.#suspects.has(cluster)) this.#suspects.set(cluster, before)
  }

  async *events(wake: Wake): ItemWatch {
    const { initialEvents, resourceVersion = '', ...rest } = this.#query
    if (initialEvents) yield* this.#initial()
    else if (resourceVersion === '' || resourceVersion === '0')
      this.#position = await newestRevision(this.#watching.storage, this.#ctx, this.#selection())
    else this.#position = this.#resumed(resourceVersion)
    // Bookmarks of the source end overlaps, also where clients want none.
    const from = { ...rest, bookmarks: true, initialEvents: false, resourceVersion: String(this.#position) }
    const inner = this.#watching.storage.watch(this.#ctx, from)
    for await (const batch of valuesAndWakes(inner, wake)) {
      await this.#watching.renew()
      this.#refuseChanged()
      yield* this.#switched()
      if (batch === undefined) continue
      const events = await pacedMap(batch, event => this.#through(event))
      this.#advance(batch)
      if (events.length > 0) yield events
    }
  }

  /** Throws 410 when the View, or a logical cluster, changed after the revision. */
  #resumed(resourceVersion: string): number {
    const position = Number(resourceVersion)
    const { since, followsClusters, clusters } = this.#watching
    const isOld =
      position < since || (followsClusters && clusters.hasChangedSince(this.#query.cluster, position))
    if (isOld) throw expired(`too old resource version: ${resourceVersion} (the View has changed since)`)
    return position
  }

  #refuseChanged(): void {
    if (this.#watching.changed.aborted) throw expired('the View has changed: list again')
  }

  /** The current objects as ADDED events, and the bookmark after them. */
  async *#initial(): ItemWatch {
    const { bookmarks, resourceVersion = '' } = this.#query
    const least = resourceVersion === '' ? {} : { resourceVersion, match: 'NotOlderThan' as const }
    const list = this.#watching.storage.list(this.#ctx, { ...this.#selection(), ...least })
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      await this.#watching.renew()
      this.#refuseChanged()
      const events = await pacedMap(next.value, item => this.#added(item))
      if (events.length > 0) yield events
    }
    this.#position = Number(next.value.resourceVersion)
    if (bookmarks) yield [bookmark(this.#watching.kind, this.#position, true)]
  }

  #selection(): Selection {
    const { cluster, namespace, labels, fields, view } = this.#query
    return {
      cluster,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(fields && { fields }),
      ...(view && { view }),
    }
  }

  /** Facts that changed since the list began are compared after it. */
  #added(item: Item): ItemEvent | undefined {
    const shown = this.#watching.shown(item, this.#suspects.get(item.key.cluster))
    return shown && { type: 'ADDED', item: shown }
  }

  #advance(events: readonly ItemEvent[]): void {
    for (const { item } of events)
      this.#position = Math.max(this.#position, Number(item.meta.resourceVersion))
    for (const [cluster, overlaps] of this.#overlaps) {
      const left = overlaps.filter(({ until }) => until > this.#position)
      if (left.length > 0) this.#overlaps.set(cluster, left)
      else this.#overlaps.delete(cluster)
    }
  }

  /** The events that follow from changed facts of logical clusters. */
  async *#switched(): ItemWatch {
    while (this.#suspects.size > 0) {
      const suspects = this.#suspects
      this.#suspects = new Map()
      for (const [cluster, before] of suspects) yield* this.#switchedIn(cluster, before)
    }
  }

  async *#switchedIn(cluster: string, before: ClusterFacts): ItemWatch {
    const overlaps = this.#overlaps.get(cluster) ?? []
    if (overlaps.length >= mostOverlaps) throw expired('the logical cluster changed too often: list again')
    const selection = { ...this.#selection(), cluster }
    const after = this.#watching.clusters.of(cluster)
    const list = this.#watching.storage.list(this.#ctx, selection)
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      const events = await pacedMap(next.value, item => this.#moved(item, before, after))
      if (events.length > 0) yield events
    }
    const until = Number(next.value.resourceVersion)
    if (until > this.#position) this.#overlaps.set(cluster, [...overlaps, { before, until, done: new Set() }])
  }

  /** The event of an object in a logical cluster whose facts changed. */
  #moved(item: Item, before: ClusterFacts, after: ClusterFacts): ItemEvent | undefined {
    // The event of this version will come: it has the previous version.
    if (Number(item.meta.resourceVersion) > this.#position) return undefined
    const { shown } = this.#watching
    const [old, now] = [shown(item, before), shown(item, after)]
    if (now !== undefined && old === undefined) return { type: 'ADDED', item: now }
    if (now === undefined && old !== undefined)
      return { type: 'DELETED', item: atRevision(old, String(this.#position)) }
    if (now === undefined || old === undefined || sameAnnotations(now, old)) return undefined
    return { type: 'MODIFIED', item: now }
  }

  /**
   * The event as the View shows it; undefined for events of hidden objects. Facts that changed since the batch began are
   * compared after it.
   */
  #through(event: ItemEvent): ItemEvent | undefined {
    const { type, item, previous } = event
    if (type === 'BOOKMARK') return this.#query.bookmarks ? event : undefined
    const { shown } = this.#watching
    const pending = this.#suspects.get(item.key.cluster)
    const before = this.#factsBefore(item) ?? pending
    if (type === 'DELETED') {
      const last = shown(item, before)
      if (last !== undefined || previous === undefined) return last && { type, item: last }
      // A source may send less than it has shown.
      const sent = shown(previous, before)
      return sent && { type, item: atRevision(sent, item.meta.resourceVersion) }
    }
    const now = shown(item, pending)
    const old = type === 'MODIFIED' ? shown(previous ?? item, before) : undefined
    if (now !== undefined) return { type: old === undefined ? 'ADDED' : type, item: now }
    return old && { type: 'DELETED', item: atRevision(old, item.meta.resourceVersion) }
  }

  /** The facts with which the client saw the previous version; undefined: the current ones. */
  #factsBefore({ key, meta }: Item): ClusterFacts | undefined {
    const overlaps = this.#overlaps.get(key.cluster) ?? []
    const id = `${key.namespace}/${key.name}`
    const revision = Number(meta.resourceVersion)
    const first = overlaps.find(({ until, done }) => revision <= until && !done.has(id))
    for (const { done } of overlaps) done.add(id)
    return first?.before
  }
}

/** Whether the annotations that the View adds are the same. */
const sameAnnotations = (a: Item, b: Item): boolean =>
  a === b || JSON.stringify(a.meta.annotations) === JSON.stringify(b.meta.annotations)

/** The item with another resourceVersion: that of the event (rules.md 4.53). */
const atRevision = ({ object, key }: Item, resourceVersion: string): Item =>
  itemOf({ ...object, metadata: { ...object.metadata, resourceVersion } }, key.cluster)
