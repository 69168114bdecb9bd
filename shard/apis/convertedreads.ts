import type { ServedKind } from '../../framework/cache/selection.ts'
import { type Item, type ItemEvent, lengthOf } from '../../framework/contract/item.ts'
import type {
  ItemBatch,
  ItemList,
  ItemWatch,
  ResourceStorage,
  Selection,
} from '../../framework/contract/storage.ts'
import { viewOf } from '../../framework/lens/view.ts'
import { type FieldRequirement, matchesFields } from '../../framework/selectors/selectors.ts'
import { batchesOf } from './converteditems.ts'

/** Items in another version, in their order. */
export type Present = (items: readonly Item[]) => Promise<readonly Item[]>

/** One version of a storage that reads the stored versions. Field selectors apply to the converted objects. */
export function convertedReads(
  storage: ResourceStorage,
  present: Present,
  kind: ServedKind,
): ResourceStorage {
  const shown: ResourceStorage = {
    ...storage,
    get: async (ctx, key) => {
      const item = await storage.get(ctx, key)
      return (await present([item]))[0] ?? item
    },
    list: (ctx, query) => convertedList(storage.list(ctx, query), present, ctx.signal),
    watch: (ctx, query) => convertedWatch(storage.watch(ctx, query), present),
  }
  return selectedAsShown(shown, kind)
}

/** Selects by the fields of the converted objects, not by those of the stored ones. */
export function selectedAsShown(storage: ResourceStorage, { fields = {} }: ServedKind): ResourceStorage {
  const isShown = ({ field }: FieldRequirement): boolean => fields[field] !== undefined
  const selecting = (requirements: readonly FieldRequirement[]): ResourceStorage =>
    viewOf(storage, () => ({
      matchesObject: object => matchesFields({ requirements }, field => fields[field]?.(object) ?? ''),
    }))
  const split = <Q extends Selection>(query: Q): readonly [ResourceStorage, Q] => {
    const requirements = query.fields?.requirements ?? []
    const own = requirements.filter(isShown)
    if (own.length === 0) return [storage, query]
    return [selecting(own), { ...query, fields: { requirements: requirements.filter(r => !isShown(r)) } }]
  }
  return {
    ...storage,
    list(ctx, query) {
      const [selected, rest] = split(query)
      return selected.list(ctx, rest)
    },
    watch(ctx, query) {
      const [selected, rest] = split(query)
      return selected.watch(ctx, rest)
    },
  }
}

/** Bytes of the items of a list that are held until all are converted. */
const mostHeld = 4 * 1024 * 1024

/**
 * Converts all items before anything is sent: a list fails as a whole. Of a long list, what is not kept in the meantime is
 * converted again. Throws when the signal is aborted.
 */
export async function* convertedList(list: ItemList, present: Present, signal: AbortSignal): ItemList {
  const read: ItemBatch[] = []
  let next = await list.next()
  for (; !next.done; next = await list.next()) read.push(next.value)
  const batches = batchesOf(read.flatMap(batch => [...batch]))
  const held: (readonly Item[])[] = []
  let bytes = 0
  let isSame = true
  for (const batch of batches) {
    signal.throwIfAborted()
    const shown = await present(batch)
    isSame &&= areSame(shown, batch)
    bytes += shown.reduce((sum, item) => sum + lengthOf(item), 0)
    if (bytes <= mostHeld) held.push(shown)
  }
  if (isSame) yield* read
  else for (const [i, batch] of batches.entries()) yield held[i] ?? (await present(batch))
  return next.value
}

const areSame = (shown: readonly Item[], items: readonly Item[]): boolean =>
  shown.every((item, i) => item === items[i])

async function* convertedWatch(watch: ItemWatch, present: Present): ItemWatch {
  for await (const events of watch) yield await convertedEvents(events, present)
}

export async function convertedEvents(
  events: readonly ItemEvent[],
  present: Present,
): Promise<readonly ItemEvent[]> {
  const seen = events.flatMap(({ type, item, previous }) =>
    type === 'BOOKMARK' ? [] : previous === undefined ? [item] : [item, previous],
  )
  const shown = await present(seen)
  if (areSame(shown, seen)) return events
  const of = new Map(seen.map((item, i) => [item, shown[i] ?? item]))
  return events.map(event => {
    const { item, previous } = event
    const before = previous === undefined ? {} : { previous: of.get(previous) ?? previous }
    return { ...event, item: of.get(item) ?? item, ...before }
  })
}
