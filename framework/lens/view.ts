import { after } from '../async/awaitable.ts'
import { mapBatch, PickedBatch } from '../contract/batch.ts'
import type { RequestContext } from '../contract/context.ts'
import {
  encodedOf,
  fieldOf,
  type Item,
  type ItemEvent,
  itemFrom,
  itemOf,
  type ObjectMeta,
  relabeledItem,
} from '../contract/item.ts'
import type {
  ItemBatch,
  ItemList,
  ItemWatch,
  ListQuery,
  ResourceStorage,
  Selection,
  WriteOptions,
} from '../contract/storage.ts'
import { methodNotSupported, notFound, notServed, type StatusError } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { matchesFields, matchesLabels } from '../selectors/selectors.ts'
import { withResourceVersion } from '../wire/encode.ts'
import type { Relabeling } from '../wire/relabel.ts'
import type { Annotator } from './annotate.ts'

/**
 * What one request sees of every object. Every part is optional; they are listed from free to dear.
 *
 * A filter holds for get, list, watch, update, patch, delete and deletecollection alike. On watch, entering the view is
 * ADDED and leaving it is DELETED with the last visible object at the new version. A lens that rewrites (`relabel`,
 * `present`) but has no `accept` is read-only. Filters see what is stored; `present` sees what `relabel` made of it.
 */
export interface Lens {
  /** Ask for less: the storage does it, bytes pass. */
  narrow?<Q extends Selection>(query: Q): Q
  /** Keep or hide: the body stays encoded. */
  matches?(meta: ObjectMeta): boolean
  /** Rewrite labels or annotations, whichever it returns: the rest is copied as bytes. The same object back: nothing. */
  relabel?(meta: ObjectMeta): Relabeling
  /** Put the same annotations into every object (`annotator`), after `relabel`: in lists mostly nothing is decoded at all. */
  readonly annotate?: Annotator
  /** Keep or hide: one decode. */
  matchesObject?(object: KubeObject): boolean
  /** Rewrite: one decode, one encode. The same object back: nothing to rewrite. */
  present?(object: KubeObject): KubeObject
  /** The way back, on writes; throws to refuse. `current` is what the client sees now. */
  accept?(object: KubeObject, current?: KubeObject): KubeObject
}

/** A view turns a request into a lens, once; the lens is applied to every object of that request. */
export type View<P extends Params = Params> = (ctx: RequestContext<P>) => Lens

export type { ListQuery, Relabeling }

/** The storage as a view shows it. What a lens leaves alone passes as the very same arrays and bytes. */
export function viewOf<P extends Params>(storage: ResourceStorage<P>, view: View<P>): ResourceStorage<P> {
  return {
    get(ctx, key) {
      return after(storage.get(ctx, key), item => visible(item, view(ctx), ctx))
    },
    list(ctx, query) {
      const lens = view(ctx)
      const list = storage.list(ctx, narrowed(query, lens))
      return touches(lens) ? listThrough(list, lens) : list
    },
    watch(ctx, query) {
      const lens = view(ctx)
      const watch = storage.watch(ctx, narrowed(query, lens))
      return touches(lens) ? watchThrough(watch, lens) : watch
    },
    async create(ctx, key, object, options) {
      const lens = writable(view(ctx), ctx)
      const accepted = lens.accept?.(object) ?? object
      return rewritten(await storage.create(ctx, key, accepted, passedOn(options, lens)), lens)
    },
    async update(ctx, key, change, options) {
      const lens = writable(view(ctx), ctx)
      const inner = async (stored: Item): Promise<KubeObject> => {
        const current = visible(stored, lens, ctx)
        const next = await change(current)
        return lens.accept?.(next, current.object) ?? next
      }
      return rewritten(await storage.update(ctx, key, inner, passedOn(options, lens)), lens)
    },
    async delete(ctx, key, check, options) {
      const lens = writable(view(ctx), ctx)
      const inner = (stored: Item): void | Promise<void> => check(visible(stored, lens, ctx))
      const { item, removed } = await storage.delete(ctx, key, inner, options)
      return { item: rewritten(item, lens), removed }
    },
  }
}

const filters = (lens: Lens): boolean => lens.matches !== undefined || lens.matchesObject !== undefined
const rewrites = ({ relabel, annotate, present }: Lens): boolean =>
  relabel !== undefined || annotate !== undefined || present !== undefined
const touches = (lens: Lens): boolean => filters(lens) || rewrites(lens)

function narrowed<Q extends Selection>(query: Q, lens: Lens): Q {
  if (lens.narrow === undefined) return query
  const { cluster, view } = query
  const { labels } = lens.narrow<Selection>({ cluster, ...(view && { labels: view }) })
  return { ...lens.narrow(query), ...(labels && { view: labels }) }
}

function writable<P extends Params>(lens: Lens, { info }: RequestContext<P>): Lens {
  if (!rewrites(lens) || lens.accept !== undefined) return lens
  throw info.isResource ? methodNotSupported(info, info.verb) : notServed()
}

/** A patch is about what the client sees: behind a lens that takes its writes back, it is something else. */
function passedOn({ patch, ...options }: WriteOptions, lens: Lens): WriteOptions {
  return patch === undefined || lens.accept !== undefined ? options : { ...options, patch }
}

/** The item as it is shown, or 404: what is outside the view does not exist. */
function visible<P extends Params>(item: Item, lens: Lens, ctx: RequestContext<P>): Item {
  if (!isSelected(item, narrowed({ cluster: ctx.cluster }, lens)) || !matches(item, lens)) {
    throw outside(item.key, ctx)
  }
  return rewritten(item, lens)
}

function outside<P extends Params>({ name }: ObjectKey, { info }: RequestContext<P>): StatusError {
  return info.isResource ? notFound({ group: info.group, resource: info.resource, name }) : notServed()
}

/** What `narrow` asks a storage to do for lists holds for single objects too. */
function isSelected(item: Item, { cluster, namespace = '', labels, fields }: Selection): boolean {
  const { key } = item
  return (
    (cluster === '*' || cluster === key.cluster) &&
    (namespace === '' || namespace === key.namespace) &&
    (labels === undefined || matchesLabels(labels, item.meta.labels)) &&
    matchesFields(fields, field => fieldOf(item, field))
  )
}

const matches = (item: Item, lens: Lens): boolean =>
  (lens.matches?.(item.meta) ?? true) && (lens.matchesObject?.(item.object) ?? true)

/** The item as the lens rewrites it; the same item when there is nothing to rewrite. */
function rewritten(item: Item, lens: Lens): Item {
  const labeled = annotated(relabeled(item, lens), lens)
  const object = lens.present?.(labeled.object)
  return object === undefined || object === labeled.object ? labeled : itemOf(object, item.key.cluster)
}

const annotated = (item: Item, { annotate }: Lens): Item => annotate?.item(item) ?? item

function relabeled(item: Item, lens: Lens): Item {
  if (lens.relabel === undefined) return item
  const { meta } = item
  const relabeling = lens.relabel(meta)
  return relabeling === meta ? item : relabeledItem(item, relabeling)
}

const shown = (item: Item, lens: Lens): Item | undefined =>
  matches(item, lens) ? rewritten(item, lens) : undefined

async function* listThrough(list: ItemList, lens: Lens): ItemList {
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) yield batchThrough(next.value, lens)
    if (!filters(lens)) return next.value
    // How many of the remaining items would be shown, nobody knows.
    const { remainingItemCount: _, ...meta } = next.value
    return meta
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

function batchThrough(batch: ItemBatch, lens: Lens): ItemBatch {
  const { relabel, annotate, present } = lens
  const seen = filters(lens) ? picked(batch, lens) : batch
  if (annotate !== undefined && relabel === undefined && present === undefined) return annotate.batch(seen)
  return rewrites(lens) ? mapBatch(seen, item => rewritten(item, lens)) : seen
}

function picked(batch: ItemBatch, lens: Lens): ItemBatch {
  const items = Array.from(batch).filter(item => matches(item, lens))
  if (items.length === batch.length) return batch
  return lens.annotate !== undefined && batch.annotationsAt !== undefined ? new PickedBatch(items) : items
}

async function* watchThrough(watch: ItemWatch, lens: Lens): ItemWatch {
  for await (const events of watch) {
    const seen = eventsThrough(events, lens)
    if (seen.length > 0) yield seen
  }
}

function eventsThrough(events: readonly ItemEvent[], lens: Lens): readonly ItemEvent[] {
  const seen = events.map(event => eventThrough(event, lens))
  if (seen.every((event, i) => event === events[i])) return events
  return seen.filter(event => event !== undefined)
}

/** The event as the view has it; undefined for what happens outside. */
function eventThrough(event: ItemEvent, lens: Lens): ItemEvent | undefined {
  const { type, item } = event
  if (type === 'BOOKMARK') return event
  const previous = event.previous === undefined ? undefined : shown(event.previous, lens)
  // A DELETED item is the last state, so that it is visible when that was.
  const current = shown(item, lens)
  if (current === undefined) {
    return type === 'MODIFIED' && previous !== undefined ? left(previous, item) : undefined
  }
  if (type !== 'MODIFIED') return current === item ? event : { ...event, item: current, ...before(previous) }
  if (event.previous !== undefined && previous === undefined) return { type: 'ADDED', item: current }
  if (current === item && previous === event.previous) return event
  return { type, item: current, ...before(previous) }
}

const before = (previous: Item | undefined): Pick<ItemEvent, 'previous'> =>
  previous === undefined ? {} : { previous }

/** Leaving the view: the last visible object at the new version, never the hidden new state (rules.md 4.53). */
function left(previous: Item, now: Item): ItemEvent {
  const encoded = withResourceVersion(encodedOf(previous), now.meta.resourceVersion)
  return { type: 'DELETED', item: itemFrom(encoded, previous.key), previous }
}
