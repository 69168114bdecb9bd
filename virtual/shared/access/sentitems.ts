import { systemAdmin } from '../../../authz/index.ts'
import {
  type ClusterName,
  expired,
  type Item,
  type ItemEvent,
  itemOf,
  matchesFields,
  matchesLabels,
  type RequestContext,
  type WatchQuery,
} from '../../../framework/index.ts'
import { areVisible, type Visibility, visibleOf } from './visibility.ts'

/** The objects that a watch has sent, and the events that follow from changes of objects and of access. */
export class SentItems {
  readonly #visibility: Visibility
  readonly #ctx: RequestContext
  readonly #query: WatchQuery
  readonly #items = new Map<string, Item>()
  #suspects = new Set<ClusterName>()
  /** Events up to this revision happened before the watch, after the version from which it resumes. */
  #resumedTo = 0

  constructor(visibility: Visibility, ctx: RequestContext, query: WatchQuery) {
    this.#visibility = visibility
    this.#ctx = ctx
    this.#query = query
  }

  /**
   * Without initial events, the objects that have not changed since the requested version count as sent; the events of the
   * others follow. Those on other shards are sent again, because the user may have got access to them since. `newest`: the
   * current revision.
   */
  async start(newest: number): Promise<readonly ItemEvent[]> {
    const { all, dependsOn, elsewhere } = this.#visibility
    const { cluster, resourceVersion } = this.#query
    const from = Number(resourceVersion || newest)
    this.#resumedTo = newest
    const far = new Set(elsewhere(cluster))
    const events: ItemEvent[] = []
    for (const item of await visibleOf(this.#visibility, this.#ctx, this.#selected(all(cluster)))) {
      if (dependsOn(item).some(each => far.has(each))) events.push(this.#shown('ADDED', item))
      else if (versionOf(item) <= from) this.#items.set(idOf(item), item)
    }
    return events
  }

  suspect(cluster: ClusterName): void {
    this.#suspects.add(cluster)
  }

  /** The events that follow from changed permissions. */
  async reviewed(): Promise<readonly ItemEvent[]> {
    const suspects = this.#suspects
    if (suspects.size === 0) return []
    this.#suspects = new Set()
    const items = this.#affected(suspects)
    const visible = await areVisible(this.#visibility, this.#ctx, items)
    return items.flatMap((item, i) => this.#switched(item, visible[i] === true) ?? [])
  }

  #affected(suspects: ReadonlySet<ClusterName>): readonly Item[] {
    const { all, dependingOn } = this.#visibility
    const { cluster } = this.#query
    if (suspects.has(systemAdmin)) return this.#selected(all(cluster))
    const items = new Set([...suspects].flatMap(dependingOn))
    return this.#selected([...items].filter(({ key }) => cluster === '*' || key.cluster === cluster))
  }

  #switched(item: Item, isVisible: boolean): ItemEvent | undefined {
    const before = this.#items.get(idOf(item))
    if (isVisible && before === undefined) return this.#shown('ADDED', item)
    return !isVisible && before !== undefined ? this.#hide(before) : undefined
  }

  async filtered(events: readonly ItemEvent[]): Promise<readonly ItemEvent[]> {
    const asked = events.filter(event => this.#isUndecided(event))
    const visible = await visibleOf(
      this.#visibility,
      this.#ctx,
      asked.map(({ item }) => item),
    )
    const own = new Set(visible)
    return events.flatMap(event => this.#filter(event, own.has(event.item)) ?? [])
  }

  #isUndecided({ type, item }: ItemEvent): boolean {
    if (type === 'BOOKMARK') return false
    return type !== 'DELETED' || (!this.#items.has(idOf(item)) && versionOf(item) <= this.#resumedTo)
  }

  #filter(event: ItemEvent, isVisible: boolean): ItemEvent | undefined {
    const { type, item } = event
    if (type === 'BOOKMARK') return event
    if (type === 'DELETED') return this.#removed(item, isVisible)
    const before = this.#items.get(idOf(item))
    // `reviewed` has sent this version or a newer one.
    if (before !== undefined && versionOf(item) <= versionOf(before)) return undefined
    if (isVisible)
      return this.#shown(this.#isSent(type, item) ? 'MODIFIED' : 'ADDED', item, before ?? event.previous)
    return before === undefined ? undefined : this.#hide(before)
  }

  /** Access is as it was at the requested version: what changed since then, and was not created, was visible before. */
  #isSent(type: ItemEvent['type'], item: Item): boolean {
    return this.#items.has(idOf(item)) || (type === 'MODIFIED' && versionOf(item) <= this.#resumedTo)
  }

  /** Throws 410 where nothing tells any more whether the user had access: the client lists again. */
  #removed(item: Item, isVisible: boolean): ItemEvent | undefined {
    const event = { type: 'DELETED', item } as const
    if (this.#items.delete(idOf(item))) return event
    if (versionOf(item) > this.#resumedTo) return undefined
    if (isVisible) return event
    throw expired('too old resource version: objects were deleted since')
  }

  /** `previous`: the last state that was sent; for ADDED none. */
  #shown(type: 'ADDED' | 'MODIFIED', item: Item, previous?: Item): ItemEvent {
    this.#items.set(idOf(item), item)
    return { type, item, ...(type === 'MODIFIED' && previous && { previous }) }
  }

  /** A DELETED event with the last visible metadata and no spec. */
  #hide(item: Item): ItemEvent {
    this.#items.delete(idOf(item))
    const last = itemOf({ ...item.object, spec: {} }, item.key.cluster)
    return { type: 'DELETED', item: last, previous: item }
  }

  /** The items that match the selectors of the request. */
  #selected(items: readonly Item[]): readonly Item[] {
    const { labels, fields } = this.#query
    return items.filter(
      item =>
        (labels === undefined || matchesLabels(labels, item.meta.labels)) &&
        matchesFields(fields, field => (field === 'metadata.name' ? item.key.name : '')),
    )
  }
}

const idOf = ({ key }: Item): string => `${key.cluster}/${key.name}`
const versionOf = ({ meta }: Item): number => Number(meta.resourceVersion)
