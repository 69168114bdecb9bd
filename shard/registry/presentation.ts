import { mapBatch } from '../../framework/contract/batch.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ItemList, ItemWatch } from '../../framework/contract/storage.ts'
import { versionOf } from '../../framework/meta/object.ts'
import { completed, shapeNumber } from '../../openapi/compile.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { CachedItem, itemAs } from '../cache/item.ts'
import type { ResourceCache } from '../cache/resource.ts'

/** How stored items are presented to readers. */
export interface Presentation {
  /** Whether all items are presented as they are cached, for as long as one request reads them. */
  isPlain(): boolean
  /** The same item when it is not rewritten. */
  item(item: Item): Item
}

/** A presentation for the reads of a storage. */
export interface Presented extends Pick<Presentation, 'item'> {
  list(list: ItemList): ItemList
  watch(watch: ItemWatch): ItemWatch
}

/** Items that are not rewritten pass as the same arrays and bytes; events are rewritten once for all watchers. */
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

/** Brings stored objects into the shape of the current definition: it may have changed since they were written. */
export interface Shape {
  /** Stored with new objects. */
  readonly number: number
  /** Whether all objects of the cache, past ones included, are in the current shape. */
  covers(cache: ResourceCache): boolean
  /** Defaults and prunes by the schema of the stored version; the same item when nothing changes. */
  of<T extends Item>(item: T): T | CachedItem
}

const shapes = new WeakMap<KindDefinition, Shape>()

export function shapeOf(definition: KindDefinition): Shape {
  const known = shapes.get(definition) ?? createShape(definition)
  shapes.set(definition, known)
  return known
}

/** Schemas are hashed when the first object is read or written. */
function createShape({ versions }: KindDefinition): Shape {
  const storage = versions.find(version => version.storage)
  const isRight = (shape: number): boolean =>
    shape === 0 || versions.some(version => shapeNumber(version) === shape)
  const reshape = (item: CachedItem): CachedItem => {
    const { object } = item
    const name = versionOf(object.apiVersion)
    const version = versions.find(each => each.name === name)
    const next = version === undefined ? object : completed(version.schema, object)
    return next === object ? item : itemAs(item, next)
  }
  const reshaped = new WeakMap<CachedItem, CachedItem>()
  return {
    get number() {
      return storage === undefined ? 0 : shapeNumber(storage)
    },
    covers: ({ shapes: seen }) => [...seen].every(isRight),
    of(item) {
      if (!(item instanceof CachedItem) || isRight(item.shape)) return item
      const known = reshaped.get(item) ?? reshape(item)
      reshaped.set(item, known)
      return known
    },
  }
}
