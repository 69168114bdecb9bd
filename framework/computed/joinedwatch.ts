import { valuesAndWakes, Wake } from '../async/wake.ts'
import type { RequestContext } from '../contract/context.ts'
import { fieldOf, type Item, type ItemEvent, initialEventsEnd } from '../contract/item.ts'
import type { ItemWatch, WatchQuery } from '../contract/storage.ts'
import { expired } from '../meta/errors.ts'
import type { ObjectKey } from '../meta/object.ts'
import { matchesFields, matchesLabels } from '../selectors/selectors.ts'
import type { JoinedSight } from './joinedsight.ts'
import { isWithin, type JoinedChange, textOf } from './joins.ts'

/** A watch of objects with joined annotations: the events of the storage, and a MODIFIED event for each change of an annotation. */
export class JoinedWatch {
  readonly #sight: JoinedSight
  readonly #ctx: RequestContext
  readonly #query: WatchQuery
  readonly #wake = new Wake()
  readonly #ended = new AbortController()
  #changes: JoinedChange[] = []
  /** The sent objects that the informer of objects does not have yet, by key. */
  readonly #ahead = new Map<string, Item>()
  /** All events of the storage up to this revision were read; undefined until the initial events are complete. */
  #position: number | undefined
  /** The highest resourceVersion that was sent. */
  #sent = 0

  constructor(sight: JoinedSight, ctx: RequestContext, query: WatchQuery) {
    this.#sight = sight
    this.#query = query
    this.#ctx = { ...ctx, signal: AbortSignal.any([ctx.signal, this.#ended.signal]) }
  }

  async *events(): ItemWatch {
    const stop = this.#sight.joins.follow(change => {
      this.#changes.push(change)
      this.#wake.ring()
    })
    try {
      await this.#sight.ready(this.#ctx)
      yield* this.#from(await this.#start())
    } finally {
      this.#ended.abort()
      stop()
    }
  }

  /** The revision at which the watch of the storage starts. Adds the changes that the client has missed. */
  async #start(): Promise<string> {
    const { initialEvents, resourceVersion = '' } = this.#query
    if (initialEvents) return resourceVersion
    const isNow = resourceVersion === '' || resourceVersion === '0'
    const position = await (isNow
      ? this.#sight.newest(this.#ctx)
      : this.#sight.reached(this.#ctx, Number(resourceVersion)))
    const missed = isNow ? [] : this.#sight.joins.changesAfter(position)
    if (missed === undefined)
      throw expired(`too old resource version: ${resourceVersion} (joined objects may have changed since)`)
    this.#changes = [...new Set([...missed, ...this.#changes])]
    this.#advance(position)
    return isNow ? String(position) : resourceVersion
  }

  async *#from(resourceVersion: string): ItemWatch {
    // Bookmarks tell the position, also where the client wants none.
    const query = { ...this.#query, bookmarks: true, ...(resourceVersion !== '' && { resourceVersion }) }
    const inner = this.#sight.storage.watch(this.#ctx, query)
    if (this.#changes.length > 0) this.#wake.ring()
    for await (const batch of valuesAndWakes(inner, this.#wake)) {
      const events = batch?.flatMap(event => this.#own(event)) ?? []
      if (events.length > 0) yield events
      yield* this.#joined()
    }
  }

  /** An event of the storage, with the joined annotations. */
  #own(event: ItemEvent): readonly ItemEvent[] {
    const { type, item, previous } = event
    const isInitial = this.#position === undefined
    if (type === 'BOOKMARK') {
      const isEnd = item.object.metadata.annotations?.[initialEventsEnd] === 'true'
      if (!isInitial || isEnd) this.#advance(Number(item.meta.resourceVersion))
      return this.#query.bookmarks ? [event] : []
    }
    const shown = this.#sight.shown(item)
    this.#note(shown)
    this.#remember(event)
    if (!isInitial) this.#advance(Number(item.meta.resourceVersion))
    return [{ type, item: shown, ...(previous && { previous: this.#sight.shown(previous) }) }]
  }

  #remember({ type, item }: ItemEvent): void {
    const key = textOf(item.key)
    if (type !== 'DELETED' && !this.#sight.joins.knows(item)) this.#ahead.set(key, item)
    else this.#ahead.delete(key)
  }

  /** The objects to which a joined object belongs, also those that only this watch knows. */
  #objectsOf(joined: ObjectKey): readonly Item[] {
    const { joins } = this.#sight
    for (const [key, item] of this.#ahead) if (joins.knows(item)) this.#ahead.delete(key)
    const found = joins.objectsOf(joined)
    if (this.#ahead.size === 0) return found
    const wanted = textOf(joined)
    const own = [...this.#ahead.values()].filter(item => {
      const key = joins.keyOf(item)
      return key !== undefined && textOf(key) === wanted
    })
    const others = found.filter(({ key }) => !this.#ahead.has(textOf(key)))
    return [...others, ...own]
  }

  #advance(position: number): void {
    this.#position = Math.max(this.#position ?? 0, position)
    this.#sight.joins.hasSent(this.#position)
  }

  #note({ meta }: Item): void {
    this.#sent = Math.max(this.#sent, Number(meta.resourceVersion))
    this.#sight.joins.hasSent(this.#sent)
  }

  /** The events that follow from changes of joined objects; none before the initial events are complete. */
  async *#joined(): ItemWatch {
    while (this.#position !== undefined && this.#changes.length > 0) {
      const [change, ...rest] = this.#changes
      this.#changes = rest
      if (change !== undefined) yield* this.#modified(change)
    }
  }

  /** Late objects that this watch knew have had their event. */
  #concerned({ key, late }: JoinedChange): readonly Item[] {
    if (late === undefined) return this.#objectsOf(key)
    return this.#ahead.has(textOf(late.key)) ? [] : [late]
  }

  async *#modified(change: JoinedChange): ItemWatch {
    const { before, revision } = change
    const events: ItemEvent[] = []
    for (const object of this.#concerned(change)) {
      const item = isWithin(this.#query, object.key)
        ? await this.#sight.seen(this.#ctx, object.key)
        : undefined
      // A newer object has an event, which shows the annotation, too.
      const isSent = item !== undefined && Number(item.meta.resourceVersion) <= (this.#position ?? 0)
      if (!isSent || !this.#selects(item)) continue
      const shown = this.#sight.shown(item, Math.max(revision, this.#sent))
      this.#note(shown)
      events.push({ type: 'MODIFIED', item: shown, previous: this.#sight.shown(item, 0, before) })
    }
    if (events.length > 0) yield events
  }

  #selects(item: Item): boolean {
    const { labels = { requirements: [] }, fields = { requirements: [] } } = this.#query
    return matchesLabels(labels, item.meta.labels) && matchesFields(fields, field => fieldOf(item, field))
  }
}
