import { turn } from '../../framework/async/streams.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ItemBatch, ItemList, ItemWatch, ResourceStorage } from '../../framework/contract/storage.ts'
import { shapeOf } from '../registry/presentation.ts'
import { convertedEvents, convertedList, type Present } from './convertedreads.ts'
import type { ServedDefinition } from './served.ts'
import { isStoredAs, type Versions } from './versions.ts'

/** Objects of clusters that may define the same resource differently. */
export interface Mixture {
  readonly version: string
  /** Whether all items are presented as they are cached. May change during a request. */
  isPlain(): boolean
  /** Whether a webhook converts some of them, which may fail. */
  asksOthers(): boolean
  /**
   * The definition of the resource in the item's cluster; undefined: there is none, and the item is presented as it is.
   */
  servedOf(item: Item): ServedDefinition | undefined
  readonly conversionOf: Versions['conversionOf']
}

type Reads = Pick<ResourceStorage, 'get' | 'list' | 'watch'>

/** Reads each object by the definition of its cluster in one version. Events are converted once for all watchers. */
export function mixedReads(mixture: Mixture): (reads: Reads) => Reads {
  const present = (items: readonly Item[]): Promise<readonly Item[]> => presentMixed(items, mixture)
  const shown = new WeakMap<readonly ItemEvent[], Promise<readonly ItemEvent[]>>()
  const show = (events: readonly ItemEvent[]): Promise<readonly ItemEvent[]> => {
    const known = shown.get(events) ?? convertedEvents(events, present)
    shown.set(events, known)
    return known
  }
  return reads => ({
    get: reads.get,
    list(ctx, query) {
      const list = reads.list(ctx, query)
      if (mixture.isPlain()) return list
      return mixture.asksOthers() ? convertedList(list, present) : mixedList(list, present)
    },
    async *watch(ctx, query): ItemWatch {
      for await (const events of reads.watch(ctx, query))
        yield mixture.isPlain() ? events : await show(events)
    },
  })
}

/** Converts batch by batch and yields to other requests in between. */
async function* mixedList(list: ItemList, present: Present): ItemList {
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      yield await mixedBatch(next.value, present)
      await turn()
    }
    return next.value
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

/** The same batch when all its items are presented as they are cached. */
async function mixedBatch(batch: ItemBatch, present: Present): Promise<ItemBatch> {
  const items = [...batch]
  const shown = await present(items)
  return shown.every((item, i) => item === items[i]) ? batch : shown
}

async function presentMixed(
  items: readonly Item[],
  { servedOf, conversionOf, version }: Mixture,
): Promise<readonly Item[]> {
  const parts = new Map<ServedDefinition, Item[]>()
  for (const item of items) {
    const served = servedOf(item)
    if (served === undefined) continue
    const part = parts.get(served) ?? []
    part.push(item)
    parts.set(served, part)
  }
  const shown = new Map<Item, Item>()
  await Promise.all(
    [...parts].map(async ([served, part]) => {
      const next = await presentPart(part, served, presentIn(conversionOf, served, version))
      part.forEach((item, i) => void shown.set(item, next[i] ?? item))
    }),
  )
  return items.map(item => shown.get(item) ?? item)
}

const presentIn = (
  conversionOf: Versions['conversionOf'],
  served: ServedDefinition,
  version: string,
): Present =>
  isStoredAs(served, version) ? async items => items : items => conversionOf(served).present(items, version)

const presentPart = (
  items: readonly Item[],
  { definition }: ServedDefinition,
  present: Present,
): Promise<readonly Item[]> => present(items.map(shapeOf(definition).of))
