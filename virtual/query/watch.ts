import { Pace } from '../../framework/async/awaitable.ts'
import { turn } from '../../framework/async/turn.ts'
import { valuesAndWakes, Wake } from '../../framework/async/wake.ts'
import {
  bookmark,
  expired,
  type Host,
  type Item,
  type ItemEvent,
  type ItemWatch,
  itemOf,
  type RequestContext,
  type ResourceStorage,
  type WatchQuery,
} from '../../framework/index.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import { localAdminCluster, resources } from '../../kcp/index.ts'
import type { AccessHistory } from '../shared/access/history.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import { newestRevision } from '../shared/watching/newestrevision.ts'
import type { WatchCosts } from '../shared/watching/watchcosts.ts'
import { checkExpressions, selectable } from './check.ts'
import { excluded } from './definitions.ts'
import { CostSpent, type QueryQuestion, tooExpensive } from './question.ts'
import { scan } from './scan.ts'
import type { ItemSelectors } from './selectors.ts'
import type { SentCounts } from './sent.ts'
import { servedForm } from './servedform.ts'
import type { Unit, Units } from './units.ts'

/** One watch of a query. */
export interface QueryWatching {
  readonly host: Host
  readonly question: QueryQuestion
  readonly units: Units
  readonly clusters: ClusterIndex
  readonly changes: AccessHistory
  readonly selectors: ItemSelectors
  readonly costs: WatchCosts
  readonly sent: SentCounts
  /** The resource in all logical clusters, for the order of events. */
  readonly anywhere: ResourceStorage
  /** Items of `anywhere` are as logical clusters serve them. */
  readonly isServedForm: boolean
  readonly kind: { readonly apiVersion: string; readonly kind: string }
}

/**
 * Watches the selected objects. An object is ADDED when it enters the query, also when the user gets permission, and DELETED with
 * its last visible state when it leaves the query.
 */
export async function* watchQueried(
  watching: QueryWatching,
  ctx: RequestContext,
  query: WatchQuery,
): ItemWatch {
  if (watching.question.orderBy !== '') throw badRequest('orderBy: a watch has no order')
  const wake = new Wake()
  const ended = new AbortController()
  const signal = AbortSignal.any([ctx.signal, ended.signal])
  const watch = new QueryWatch(watching, { ...ctx, signal }, query)
  const suspect = (cluster: string): void => {
    watch.suspect(cluster)
    wake.ring()
  }
  const stops = [
    watching.changes.follow('*', suspect),
    watching.clusters.follow(cluster => suspect(cluster)),
    watching.units.followPolicies(suspect),
    watching.host.informers.for(resources.apiBindings).onEvent(({ item }) => suspect(item.key.cluster)),
  ]
  try {
    yield* watch.events(wake)
  } catch (error) {
    throw error instanceof CostSpent ? tooExpensive() : error
  } finally {
    ended.abort()
    watch.release()
    for (const stop of stops) stop()
  }
}

/** The units of a logical cluster, and the objects that were sent. */
interface Place {
  readonly units: readonly Unit[]
  /** The logical clusters whose permissions decide about the units. */
  readonly decidedIn: readonly string[]
  readonly sent: Map<string, Item>
}

class QueryWatch {
  readonly #watching: QueryWatching
  readonly #ctx: RequestContext
  readonly #query: WatchQuery
  readonly #places = new Map<string, Place>()
  #suspects = new Set<string>()
  /** All events up to this revision were read. */
  #position = ''
  /** The number of sent objects in all places. */
  #held = 0

  constructor(watching: QueryWatching, ctx: RequestContext, query: WatchQuery) {
    this.#watching = watching
    this.#ctx = ctx
    this.#query = query
  }

  suspect(cluster: string): void {
    this.#suspects.add(cluster)
  }

  /** The sent objects are not kept any more. */
  release(): void {
    this.#hold(-this.#held)
  }

  #hold(count: number): void {
    this.#watching.sent.add(this.#ctx.user, count)
    this.#held += count
  }

  async *events(wake: Wake): ItemWatch {
    const { initialEvents, bookmarks } = this.#query
    this.#suspects.clear()
    this.#position = await this.#begin()
    const started = await this.#started(await this.#units())
    if (initialEvents && started.length > 0) yield started
    if (initialEvents && bookmarks) yield [bookmark(this.#watching.kind, Number(this.#position), true)]
    const inner = this.#watchAnywhere()
    const pace = new Pace()
    for await (const batch of valuesAndWakes(inner, wake)) {
      // One change of permissions wakes all watches.
      if (batch === undefined) await turn()
      await this.#watching.costs.renew(this.#watching.question.allowance, this.#ctx)
      const reviewed = await this.#reviewed()
      if (reviewed.length > 0) yield reviewed
      for (const event of batch ?? []) {
        await pace.due()
        const shown = await this.#through(event)
        this.#position = event.item.meta.resourceVersion
        if (shown !== undefined) yield [shown]
      }
    }
  }

  /** Of all objects, from the position: an object that no longer matches the selectors of the query is DELETED. */
  #watchAnywhere(): ItemWatch {
    const { labels: _labels, fields: _fields, options: _options, ...scope } = this.#query
    const from = { ...scope, bookmarks: true, initialEvents: false, resourceVersion: this.#position }
    return this.#watching.anywhere.watch(this.#ctx, from)
  }

  /** The revision from which the watch follows. Throws 410 when permissions or facts have changed since the requested one. */
  async #begin(): Promise<string> {
    const { anywhere, changes, clusters, host, units } = this.#watching
    const { resourceVersion = '', initialEvents, cluster } = this.#query
    const isOlder = !initialEvents && resourceVersion !== '' && resourceVersion !== '0'
    if (!isOlder) {
      const least = resourceVersion === '' ? {} : { resourceVersion, match: 'NotOlderThan' as const }
      return String(await newestRevision(anywhere, this.#ctx, { cluster: '-', ...least }))
    }
    const all = host.informers.for(resources.logicalClusters).list()
    const places = cluster === '*' ? all.map(({ key }) => key.cluster) : await units.decidedIn(cluster)
    const isChanged =
      changes.hasChanged(places, Number(resourceVersion)) ||
      clusters.hasChangedSince(cluster, Number(resourceVersion))
    if (isChanged)
      throw expired(
        `too old resource version: ${resourceVersion} (permissions or workspaces have changed since)`,
      )
    return resourceVersion
  }

  async #units(): Promise<ReadonlyMap<string, readonly Unit[]>> {
    const { units, question } = this.#watching
    const found = await units.all(this.#ctx, question.usesWorkspaces)
    const all = selectable(found, this.#query, this.#ctx)
    const byCluster = new Map<string, Unit[]>()
    for (const unit of all) byCluster.set(unit.cluster, [...(byCluster.get(unit.cluster) ?? []), unit])
    return byCluster
  }

  /** The current objects as ADDED events. */
  async #started(units: ReadonlyMap<string, readonly Unit[]>): Promise<readonly ItemEvent[]> {
    const events: ItemEvent[] = []
    await checkExpressions(this.#watching.question, [...units.values()].flat(), this.#ctx)
    for (const [cluster, own] of units)
      for (const event of await this.#compared(cluster, own)) events.push(event)
    return events
  }

  /** The events that follow from changed permissions and facts. */
  async #reviewed(): Promise<readonly ItemEvent[]> {
    const events: ItemEvent[] = []
    while (this.#suspects.size > 0) {
      const suspects = this.#suspects
      this.#suspects = new Set()
      for (const cluster of this.#affected(suspects)) {
        // Another server that decides may have done so before what changed elsewhere.
        if (!suspects.has(cluster)) this.#watching.host.backend.authorizer.forget?.(cluster)
        for (const event of await this.#compared(cluster, await this.#unitsIn(cluster))) events.push(event)
      }
    }
    return events
  }

  #affected(suspects: ReadonlySet<string>): readonly string[] {
    const { cluster } = this.#query
    const isAll = suspects.has(localAdminCluster)
    const known = [...this.#places].filter(
      ([, { decidedIn }]) => isAll || decidedIn.some(place => suspects.has(place)),
    )
    const names = new Set([...known.map(([name]) => name), ...suspects])
    return [...names].filter(name => cluster === '*' || cluster === name)
  }

  async #unitsIn(cluster: string): Promise<readonly Unit[]> {
    const { units, host, question } = this.#watching
    const { usesWorkspaces } = question
    const exists = host.informers.for(resources.logicalClusters).list(cluster).length > 0
    const own = exists ? await units.in({ cluster, usesWorkspaces }, this.#ctx) : []
    return own.filter(({ resource }) => excluded(resource, this.#query) === undefined)
  }

  /** What differs between the objects that were sent, and those that are selected at the position. */
  async #compared(cluster: string, units: readonly Unit[]): Promise<readonly ItemEvent[]> {
    const before = this.#places.get(cluster)?.sent ?? new Map<string, Item>()
    const count = before.size
    const sent = new Map<string, Item>()
    const events: ItemEvent[] = []
    const { question } = this.#watching
    const { labels, fields } = this.#query
    const query = { cluster, ...(labels && { labels }), ...(fields && { fields }) }
    for await (const { item, unit } of scan({ units, question }, this.#ctx, {
      query,
      start: { revision: this.#position },
    })) {
      if (!question.selects(item, unit)) continue
      sent.set(idOf(item), item)
      this.#watching.sent.check(this.#ctx.user, sent.size)
      const old = before.get(idOf(item))
      if (old === undefined) events.push({ type: 'ADDED', item })
      before.delete(idOf(item))
    }
    for (const gone of before.values())
      events.push({ type: 'DELETED', item: atRevision(gone, this.#position) })
    this.#hold(sent.size - count)
    const decidedIn = await this.#watching.units.decidedIn(cluster)
    // The user may get the permission again in another logical cluster.
    const isKept = units.length > 0 || (decidedIn.length > 1 && this.#places.has(cluster))
    if (isKept) this.#places.set(cluster, { units, sent, decidedIn })
    else this.#places.delete(cluster)
    return events
  }

  /** The event as the query shows it; undefined for events of other objects. */
  async #through(event: ItemEvent): Promise<ItemEvent | undefined> {
    const { type, item } = event
    if (type === 'BOOKMARK') return this.#query.bookmarks ? event : undefined
    const place = this.#places.get(item.key.cluster)
    const unit = place?.units.find(({ namespace }) => namespace === '' || namespace === item.key.namespace)
    if (place === undefined || unit === undefined) return undefined
    const id = idOf(item)
    const before = place.sent.get(id)
    const now = type === 'DELETED' ? undefined : await this.#selected(event, unit)
    if (now !== undefined) {
      if (before === undefined) this.#hold(1)
      place.sent.set(id, now)
      return { type: before === undefined ? 'ADDED' : 'MODIFIED', item: now }
    }
    if (place.sent.delete(id)) this.#hold(-1)
    return before && { type: 'DELETED', item: atRevision(before, item.meta.resourceVersion) }
  }

  async #selected({ item }: ItemEvent, unit: Unit): Promise<Item | undefined> {
    const { selectors, question, isServedForm } = this.#watching
    if (!selectors.labels(item)) return undefined
    const served = isServedForm ? item : await servedForm(item, unit, this.#ctx)
    if (served === undefined || !selectors.fields(served, unit.resource)) return undefined
    return question.selects(served, unit) ? served : undefined
  }
}

const idOf = ({ key }: Item): string => `${key.namespace}/${key.name}`

/** The item with another resourceVersion: that of the event (rules.md 4.53). */
const atRevision = ({ object, key }: Item, resourceVersion: string): Item =>
  itemOf({ ...object, metadata: { ...object.metadata, resourceVersion } }, key.cluster)
