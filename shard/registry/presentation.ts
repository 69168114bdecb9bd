import { mapBatch } from '../../framework/contract/batch.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ItemList, ItemWatch } from '../../framework/contract/storage.ts'

/** How cached items are shown. */
export interface Presentation {
  /** Whether all are shown as they are cached, and will be for as long as one reader reads: then nobody looks at them. */
  isPlain(): boolean
  /** The same item when it is shown as it is. */
  item(item: Item): Item
}

/** A presentation of what storages read. */
export interface Presented extends Pick<Presentation, 'item'> {
  list(list: ItemList): ItemList
  watch(watch: ItemWatch): ItemWatch
}

/** What is shown as it is passes as the very same arrays and bytes; what several watchers see is made once. */
export function presented(present: Presentation): Presented {
  const shown = new WeakMap<readonly ItemEvent[], readonly ItemEvent[]>()
  const events = (seen: readonly ItemEvent[]): readonly ItemEvent[] => {
    const known = shown.get(seen) ?? presentEvents(seen, present)
    shown.set(seen, known)
    return known
  }
  return {
    item: present.item,
    list: list => (present.isPlain() ? list : presentList(list, present)),
    watch: watch => (present.isPlain() ? watch : presentWatch(watch, events)),
  }
}

/** Nothing is rewritten. */
export const asStored: Presented = { item: item => item, list: list => list, watch: watch => watch }

async function* presentWatch(
  watch: ItemWatch,
  show: (events: readonly ItemEvent[]) => readonly ItemEvent[],
): ItemWatch {
  for await (const events of watch) yield show(events)
}

async function* presentList(list: ItemList, present: Presentation): ItemList {
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) yield mapBatch(next.value, present.item)
    return next.value
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

function presentEvents(events: readonly ItemEvent[], present: Presentation): readonly ItemEvent[] {
  const shown = events.map(event => presentEvent(event, present))
  return shown.every((event, i) => event === events[i]) ? events : shown
}

function presentEvent(event: ItemEvent, present: Presentation): ItemEvent {
  const { type } = event
  if (type === 'BOOKMARK') return event
  const item = present.item(event.item)
  const previous = event.previous && present.item(event.previous)
  if (item === event.item && previous === event.previous) return event
  return { type, item, ...(previous && { previous }) }
}
