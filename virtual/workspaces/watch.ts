import {
  expired,
  type Host,
  type Informer,
  type Item,
  type ItemEvent,
  type ItemWatch,
  itemOf,
  matchesFields,
  matchesLabels,
  type RequestContext,
  type ResourceStorage,
  type WatchQuery,
} from '../../framework/index.ts'
import { localAdminCluster } from '../../kcp/index.ts'
import type { AccessChanges } from '../shared/watching/accesschanges.ts'
import { newestRevision } from '../shared/watching/newestrevision.ts'
import { Wake } from '../shared/watching/wake.ts'
import { clusterOf, isOwn } from './access.ts'

export interface PersonalWatch {
  readonly host: Host
  readonly changes: AccessChanges
  /** The current workspaces; undefined before their identity is known. */
  readonly workspaces: () => Informer | undefined
}

/** Milliseconds after which access to logical clusters of other shards is reviewed again: their changes are not seen here. */
const again = 5_000

/**
 * A watch that also follows access: a workspace is ADDED when the user gets access, and DELETED when the user loses
 * it. Throws 410 when access has changed since the requested version.
 */
export async function* personalWatch(
  storage: ResourceStorage,
  options: PersonalWatch,
  ctx: RequestContext,
  query: WatchQuery,
): ItemWatch {
  refuseOld(options, ctx, query)
  const seen = new Seen(options, ctx, query)
  const inner = storage.watch(ctx, query)
  const wake = new Wake()
  const suspect = (cluster: string): void => {
    seen.suspect(cluster)
    wake.ring()
  }
  const stop = options.changes.follow(suspect)
  const timer = setInterval(() => seen.elsewhere().forEach(suspect), again)
  try {
    if (!query.initialEvents)
      yield* nonEmpty(await seen.start(await newestRevision(storage, ctx, { cluster: query.cluster })))
    let next = inner.next()
    for (;;) {
      const batch = await Promise.race([next, wake.rung()])
      if (batch === undefined) {
        wake.set()
        yield* nonEmpty(await seen.reviewed())
        continue
      }
      if (batch.done) return
      yield* nonEmpty(await seen.filtered(batch.value))
      next = inner.next()
    }
  } finally {
    clearInterval(timer)
    stop()
    await inner.return()
  }
}

function* nonEmpty(events: readonly ItemEvent[]): Generator<readonly ItemEvent[], void> {
  if (events.length > 0) yield events
}

function refuseOld(
  { changes, workspaces }: PersonalWatch,
  { cluster }: RequestContext,
  { resourceVersion = '', initialEvents }: WatchQuery,
): void {
  if (initialEvents || resourceVersion === '' || resourceVersion === '0') return
  const items = workspaces()?.list(cluster === '*' ? undefined : cluster) ?? []
  const clusters = items.flatMap(item => [item.key.cluster, clusterOf(item) ?? item.key.cluster])
  if (changes.since([cluster, ...clusters], resourceVersion))
    throw expired(`too old resource version: ${resourceVersion} (access has changed since)`)
}

/** The workspaces that a watch has sent. */
class Seen {
  readonly #options: PersonalWatch
  readonly #ctx: RequestContext
  readonly #query: WatchQuery
  readonly #items = new Map<string, Item>()
  readonly #suspects = new Set<string>()
  /** Events up to this revision happened before the watch, after the version from which it resumes. */
  #resumedTo = 0

  constructor(options: PersonalWatch, ctx: RequestContext, query: WatchQuery) {
    this.#options = options
    this.#ctx = ctx
    this.#query = query
  }

  /**
   * Without initial events, the workspaces that have not changed since the requested version count as sent; the events of the
   * others follow. Those on other shards are sent again, because the user may have got access to them since. `newest`: the
   * current revision.
   */
  async start(newest: number): Promise<readonly ItemEvent[]> {
    const from = Number(this.#query.resourceVersion || newest)
    this.#resumedTo = newest
    const events: ItemEvent[] = []
    for (const item of this.#all()) {
      if (!(await this.#isOwn(item))) continue
      if (this.#isElsewhere(item)) events.push(this.#show('ADDED', item))
      else if (versionOf(item) <= from) this.#items.set(idOf(item), item)
    }
    return events
  }

  /** The logical clusters of other shards. */
  elsewhere(): readonly string[] {
    if (this.#options.host.otherShards === undefined) return []
    return this.#all().flatMap(item => (this.#isElsewhere(item) ? (clusterOf(item) ?? []) : []))
  }

  #isElsewhere(item: Item): boolean {
    const cluster = clusterOf(item)
    return cluster !== undefined && this.#options.host.otherShards?.has(cluster) === true
  }

  suspect(cluster: string): void {
    this.#suspects.add(cluster)
  }

  /** The events that follow from changed rights. */
  async reviewed(): Promise<readonly ItemEvent[]> {
    const suspects = new Set(this.#suspects)
    this.#suspects.clear()
    const events: ItemEvent[] = []
    for (const item of this.#all()) {
      const places = [localAdminCluster, item.key.cluster, clusterOf(item) ?? '']
      if (!places.some(place => suspects.has(place))) continue
      const before = this.#items.get(idOf(item))
      const own = await this.#isOwn(item)
      if (own && before === undefined) events.push(this.#show('ADDED', item))
      if (!own && before !== undefined) events.push(this.#hide(before))
    }
    return events
  }

  async filtered(events: readonly ItemEvent[]): Promise<readonly ItemEvent[]> {
    const shown: ItemEvent[] = []
    for (const event of events) {
      const next = event.type === 'BOOKMARK' ? event : await this.#filter(event)
      if (next !== undefined) shown.push(next)
    }
    return shown
  }

  async #filter({ type, item }: ItemEvent): Promise<ItemEvent | undefined> {
    const before = this.#items.get(idOf(item))
    // `reviewed` has sent this version or a newer one.
    if (before !== undefined && type !== 'DELETED' && versionOf(item) <= versionOf(before)) return undefined
    if (type === 'DELETED') return this.#removed(item)
    if (await this.#isOwn(item)) return this.#show(this.#isSent(type, item) ? 'MODIFIED' : 'ADDED', item)
    return before === undefined ? undefined : this.#hide(before)
  }

  /** Access is as it was at the requested version: what changed since then, and was not created, was visible before. */
  #isSent(type: ItemEvent['type'], item: Item): boolean {
    return this.#items.has(idOf(item)) || (type === 'MODIFIED' && versionOf(item) <= this.#resumedTo)
  }

  /** Throws 410 where nothing tells any more whether the user had access: the client lists again. */
  async #removed(item: Item): Promise<ItemEvent | undefined> {
    const event = { type: 'DELETED', item } as const
    if (this.#items.delete(idOf(item))) return event
    if (versionOf(item) > this.#resumedTo) return undefined
    if (await this.#isOwn(item)) return event
    throw expired('too old resource version: workspaces were deleted since')
  }

  #show(type: 'ADDED' | 'MODIFIED', item: Item): ItemEvent {
    this.#items.set(idOf(item), item)
    return { type, item }
  }

  /** A DELETED event with the last visible metadata and no spec. */
  #hide(item: Item): ItemEvent {
    this.#items.delete(idOf(item))
    return { type: 'DELETED', item: itemOf({ ...item.object, spec: {} }, item.key.cluster) }
  }

  #isOwn(item: Item): Promise<boolean> {
    return isOwn(this.#options.host, this.#ctx.user, item, this.#ctx.signal)
  }

  /** The workspaces in the scope of the request that match its selectors. */
  #all(): readonly Item[] {
    const { cluster, labels, fields } = this.#query
    const items = this.#options.workspaces()?.list(cluster === '*' ? undefined : cluster) ?? []
    return items.filter(
      item =>
        (labels === undefined || matchesLabels(labels, item.meta.labels)) &&
        matchesFields(fields, field => (field === 'metadata.name' ? item.key.name : '')),
    )
  }
}

const idOf = ({ key }: Item): string => `${key.cluster}/${key.name}`
const versionOf = ({ meta }: Item): number => Number(meta.resourceVersion)
