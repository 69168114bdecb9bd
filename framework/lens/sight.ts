import type { ApiResource } from '../contract/apis.ts'
import { mapBatch, PickedBatch } from '../contract/batch.ts'
import { encodedOf, fieldOf, type Item, type ItemEvent, itemFrom } from '../contract/item.ts'
import type { ItemBatch, ItemList, ItemWatch, Selection } from '../contract/storage.ts'
import type { Params } from '../request/path.ts'
import { fieldMatcher, labelMatcher } from '../selectors/matcher.ts'
import { isKeyField } from '../selectors/selectors.ts'
import { withResourceVersion } from '../wire/encode.ts'
import type { CheckedLens } from './checkedlens.ts'

/** Field selectors besides `metadata.name` and `metadata.namespace`, as `selectableFields` of a resource. */
export type SelectableFields = NonNullable<ApiResource['selectableFields']>

/** A lens, and the selectors of the client that apply to its results. */
export interface Sight {
  readonly lens: CheckedLens<Params>
  /** undefined: the storage below selects. */
  readonly selects?: (shown: Item) => boolean
}

/** How a query is answered. Without `sight` nothing is left to do with what the storage returns. */
export function seenWith<P extends Params, Q extends Selection>(
  lens: CheckedLens<P>,
  query: Q,
  fields: SelectableFields,
): { readonly sight: Sight | undefined; readonly below: Q } {
  if (!lens.rewritesSelected)
    return { sight: lens.filters || lens.rewrites ? { lens } : undefined, below: lens.narrowed(query) }
  const { below, ...selecting } = shownSelection(query, fields)
  return { sight: { lens, ...selecting }, below: lens.narrowed(below) }
}

/** A query for the storage below, and the selectors of the client that apply to its results as they are shown. */
export interface ShownSelection<Q extends Selection> {
  /** Selects by name and namespace only. */
  readonly below: Q
  /** undefined: there are no other selectors. */
  readonly selects?: (shown: Item) => boolean
}

/** Selectors must not find what is hidden: they apply to what is shown. */
export function shownSelection<Q extends Selection>(query: Q, fields: SelectableFields): ShownSelection<Q> {
  const { labels, view: _, fields: all, ...rest } = query
  const own = { requirements: all?.requirements.filter(isKeyField) ?? [] }
  const shown = { requirements: all?.requirements.filter(requirement => !isKeyField(requirement)) ?? [] }
  const textOf = (item: Item, field: string): string => fields[field]?.(item.object) ?? fieldOf(item, field)
  const [labelled, withFields] = [labelMatcher(labels ?? { requirements: [] }), fieldMatcher(shown)]
  const selects = (item: Item): boolean =>
    labelled(item.meta.labels) && withFields(field => textOf(item, field))
  const isSelecting = (labels?.requirements.length ?? 0) + shown.requirements.length > 0
  const below = { ...rest, ...(own.requirements.length > 0 && { fields: own }) } as unknown as Q
  return { below, ...(isSelecting && { selects }) }
}

/** The list as the client sees it. */
export async function* listThrough(list: ItemList, sight: Sight): ItemList {
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) yield batchThrough(next.value, sight)
    if (!sight.lens.filters && sight.selects === undefined) return next.value
    // It is unknown how many of the remaining items are visible.
    const { remainingItemCount: _, ...meta } = next.value
    return meta
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

function batchThrough(batch: ItemBatch, { lens, selects }: Sight): ItemBatch {
  const seen = lens.filters ? picked(batch, lens) : batch
  if (lens.annotate !== undefined && !lens.rewritesSelected) return lens.annotate.batch(seen)
  const rewritten = lens.rewrites ? mapBatch(seen, item => lens.rewritten(item)) : seen
  return selects === undefined ? rewritten : Array.from(rewritten).filter(selects)
}

function picked(batch: ItemBatch, lens: CheckedLens<Params>): ItemBatch {
  const items = Array.from(batch).filter(item => lens.isVisible(item))
  if (items.length === batch.length) return batch
  return lens.annotate !== undefined && batch.annotationsAt !== undefined ? new PickedBatch(items) : items
}

/** The watch as the client sees it. */
export async function* watchThrough(watch: ItemWatch, sight: Sight): ItemWatch {
  for await (const events of watch) {
    const seen = eventsThrough(events, sight)
    if (seen.length > 0) yield seen
  }
}

function eventsThrough(events: readonly ItemEvent[], sight: Sight): readonly ItemEvent[] {
  const seen = events.map(event => eventThrough(event, sight))
  if (seen.every((event, i) => event === events[i])) return events
  return seen.filter(event => event !== undefined)
}

const shown = (item: Item, { lens }: Sight): Item | undefined =>
  lens.isVisible(item) ? lens.rewritten(item) : undefined

/** The event in the view; undefined for events outside it. */
function eventThrough(event: ItemEvent, sight: Sight): ItemEvent | undefined {
  const { type, item } = event
  if (type === 'BOOKMARK') return event
  const { selects = () => true } = sight
  const selected = (state: Item | undefined): Item | undefined =>
    state !== undefined && selects(state) ? state : undefined
  const previous = event.previous && selected(shown(event.previous, sight))
  // A DELETED item is the last state: it is visible if that was.
  const state = shown(item, sight)
  const current = selected(state)
  if (current === undefined) {
    // A storage may not know the previous state. The client may read the current one, without its selector.
    const last = event.previous === undefined ? state : previous
    return type === 'MODIFIED' && last !== undefined ? left(last, item) : undefined
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
