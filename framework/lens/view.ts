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
import type { GroupVersionResource, KubeObject, ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { matchesFields, matchesLabels } from '../selectors/selectors.ts'
import { withResourceVersion } from '../wire/encode.ts'
import type { Relabeling } from '../wire/relabel.ts'
import type { Annotator } from './annotate.ts'

/**
 * How one request sees all objects. All parts are optional; they are listed from cheap to expensive. A filter applies
 * to get, list, watch, update, patch, delete and deletecollection. On watch, an object that enters the view is ADDED,
 * one that leaves it is DELETED with its last visible state at the new version. A lens that rewrites (`relabel`,
 * `present`) without `accept` is read-only. Filters see the stored object; `present` sees the result of `relabel`.
 */
export interface Lens {
  /** Narrows the selection: the storage filters, and bytes are passed through. */
  narrow?<Q extends Selection>(query: Q): Q
  /** Filters by metadata; the object is not decoded. */
  matches?(meta: ObjectMeta): boolean
  /** Replaces labels or annotations; the other bytes are copied. The same object: no change. */
  relabel?(meta: ObjectMeta): Relabeling
  /** Adds the same annotations to all objects, after `relabel`; lists are mostly not decoded. */
  readonly annotate?: Annotator
  /** Filters by the decoded object. */
  matchesObject?(object: KubeObject): boolean
  /** Rewrites the decoded object, which is encoded again. The same object: no change. */
  present?(object: KubeObject): KubeObject
  /** The inverse of `present` for writes; throws to reject one. `current` is the object as the client sees it. */
  accept?(object: KubeObject, current?: KubeObject): KubeObject
}

/** Returns the lens of a request, which is applied to all of its objects. Called once for each storage call. */
export type View<P extends Params = Params> = (ctx: RequestContext<P>) => Lens

export type { ListQuery, Relabeling }

/**
 * A storage that shows the objects of another one through the lenses of a view. Unchanged objects are passed as the same
 * arrays and bytes. Hidden objects are 404; writes through a read-only lens are 405.
 *
 * ```ts
 * const storage = viewOf(configMaps.storage, ({ params }) => ({
 *   narrow: query => ({ ...query, labels: andLabels(query.labels, labelEquals('team', params.team)) }),
 * }))
 * ```
 */
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

/** A patch refers to the object that the client sees: behind a lens with `accept` it is dropped. */
function passedOn({ patch, ...options }: WriteOptions, lens: Lens): WriteOptions {
  return patch === undefined || lens.accept !== undefined ? options : { ...options, patch }
}

/** The item as the client sees it; 404 for items outside the view. */
function visible<P extends Params>(item: Item, lens: Lens, ctx: RequestContext<P>): Item {
  if (!isSelected(item, narrowed({ cluster: ctx.cluster }, lens)) || !matches(item, lens)) {
    throw outside(item.key, ctx)
  }
  return rewritten(item, lens)
}

function outside<P extends Params>({ name }: ObjectKey, { info }: RequestContext<P>): StatusError {
  return info.isResource ? notFound({ group: info.group, resource: info.resource, name }) : notServed()
}

/** The selection of `narrow`, applied to a single object. */
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

/** The item as the lens rewrites it; the same item if nothing changes. */
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
    // It is unknown how many of the remaining items are visible.
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

/** The event in the view; undefined for events outside it. */
function eventThrough(event: ItemEvent, lens: Lens): ItemEvent | undefined {
  const { type, item } = event
  if (type === 'BOOKMARK') return event
  const previous = event.previous === undefined ? undefined : shown(event.previous, lens)
  // A DELETED item is the last state: it is visible if that was.
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

/**
 * The object leaves the view: its last visible state at the new version, never the hidden new state (rules.md 4.53).
 */
function left(previous: Item, now: Item): ItemEvent {
  const encoded = withResourceVersion(encodedOf(previous), now.meta.resourceVersion)
  return { type: 'DELETED', item: itemFrom(encoded, previous.key), previous }
}

/** A read-only storage: writes return 405, also if no endpoint offers them. */
export function readOnly<P extends Params>(
  about: Pick<GroupVersionResource, 'group' | 'resource'>,
  reads: Pick<ResourceStorage<P>, 'get' | 'list' | 'watch'>,
): ResourceStorage<P> {
  const refuse = (verb: string) => async (): Promise<never> => {
    throw methodNotSupported(about, verb)
  }
  return { ...reads, create: refuse('create'), update: refuse('update'), delete: refuse('delete') }
}
