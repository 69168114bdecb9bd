import { Pace } from '../../framework/async/awaitable.ts'
import type { ServedKind } from '../../framework/cache/selection.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ItemBatch, ItemList, ItemWatch, ResourceStorage } from '../../framework/contract/storage.ts'
import { notFound } from '../../framework/meta/errors.ts'
import { versionIn } from '../../framework/meta/object.ts'
import { completed, shapeNumber } from '../../openapi/compile.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { CachedItem, itemAs } from '../cache/item.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import type { Registry, Shape } from './registry.ts'
import { update } from './update.ts'

/**
 * The dependencies of reads: the cache of the resource, its name for messages, and the kind in the version of the
 * reader.
 */
export interface Reads {
  readonly group: string
  readonly resource: string
  readonly cache: ResourceCache
  readonly kind: ServedKind
  readonly show: Presented
}

/** get, list and watch from the watch cache. */
export const readsOf = ({
  group,
  resource,
  cache,
  kind,
  show,
}: Reads): Pick<ResourceStorage, 'get' | 'list' | 'watch'> => ({
  get(_ctx, key) {
    const item = cache.get(key)
    if (item === undefined) throw notFound({ group, resource, name: key.name })
    return show.item(item)
  },
  list: (ctx, query) => show.list(cache.list(kind, ctx.signal, query)),
  watch: (ctx, query) => show.watch(cache.watch(kind, ctx.signal, query)),
})

/** The storage of one resource; objects are written in the version in which they are stored. */
export const registryStorage = (registry: Registry, reads: Reads): ResourceStorage => ({
  ...readsOf(reads),
  create: (ctx, key, object, options) => create(registry, ctx, { key, object }, options),
  update: (ctx, key, change, options) => update(registry, ctx, { key, change, options }),
  delete: (ctx, key, check, options) => remove(registry, ctx, { key, check, options }),
})

/** Uses the first storage while a condition holds, and otherwise the one that `second` returns; creates in the first one. */
export function either(
  condition: () => boolean,
  first: ResourceStorage,
  second: () => ResourceStorage,
): ResourceStorage {
  const chosen = (): ResourceStorage => (condition() ? first : second())
  return {
    ...first,
    get: (ctx, key) => chosen().get(ctx, key),
    list: (ctx, query) => chosen().list(ctx, query),
    watch: (ctx, query) => chosen().watch(ctx, query),
    update: (ctx, key, change, options) => chosen().update(ctx, key, change, options),
    delete: (ctx, key, check, options) => chosen().delete(ctx, key, check, options),
  }
}

/** Writes to a resource that no cluster serves: 404. */
export const refuseWrites = (
  about: Pick<Registry, 'group' | 'resource'>,
): Pick<ResourceStorage, 'create' | 'update' | 'delete'> => {
  const refuse = async (_ctx: RequestContext, key: { readonly name: string }): Promise<never> => {
    throw notFound({ ...about, name: key.name })
  }
  return { create: refuse, update: refuse, delete: refuse }
}

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
  const pace = new Pace()
  for await (const events of watch) {
    for (const part of partsOf(events)) {
      yield show(part)
      await pace.due()
    }
  }
}

/** Events that are rewritten in one turn of the event loop. */
const eventsInTurn = 8

/** The same array if it is short, as most are. */
function partsOf(events: readonly ItemEvent[]): readonly (readonly ItemEvent[])[] {
  if (events.length <= eventsInTurn) return [events]
  const parts = Math.ceil(events.length / eventsInTurn)
  return Array.from({ length: parts }, (_, i) => events.slice(i * eventsInTurn, (i + 1) * eventsInTurn))
}

async function* presentList(list: ItemList, present: Presentation): ItemList {
  try {
    const pace = new Pace()
    let next = await list.next()
    for (; !next.done; next = await list.next()) yield* presentBatch(next.value, present, pace)
    return next.value
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

/** The same batch if no item is rewritten; parts of it if that takes long. */
async function* presentBatch(
  batch: ItemBatch,
  { item: show }: Presentation,
  pace: Pace,
): AsyncGenerator<ItemBatch, void> {
  let shown: Item[] = []
  let isSame = true
  for (const item of batch) {
    const next = show(item)
    isSame &&= next === item
    shown.push(next)
    const wait = pace.due()
    if (wait === undefined) continue
    isSame = false
    yield shown
    shown = []
    await wait
  }
  if (isSame) yield batch
  else if (shown.length > 0) yield shown
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

const shapes = new WeakMap<KindDefinition, Shape>()

export function shapeOf(definition: KindDefinition): Shape {
  const known = shapes.get(definition) ?? createShape(definition)
  shapes.set(definition, known)
  return known
}

/** Reshaped objects are kept in memory up to so many times their stored length. */
const keptGrowth = 4

/** Schemas are hashed when the first object is read or written. */
function createShape({ versions }: KindDefinition): Shape {
  const storage = versions.find(version => version.storage)
  // The version that most objects are stored in comes first: the schemas of others are not hashed.
  const byUse = storage === undefined ? versions : [storage, ...versions]
  const isRight = (shape: number): boolean =>
    shape === 0 || byUse.some(version => shapeNumber(version) === shape)
  const reshape = (item: CachedItem): CachedItem => {
    const { object } = item
    const name = versionIn(object.apiVersion)
    const version = versions.find(each => each.name === name)
    const next = version === undefined ? object : completed(version.schema, object)
    return next === object ? item : itemAs(item, next)
  }
  const reshaped = new WeakMap<CachedItem, CachedItem>()
  const keep = (item: CachedItem, next: CachedItem): CachedItem => {
    if (next.length <= keptGrowth * item.length) reshaped.set(item, next)
    return next
  }
  const number = (): number => (storage === undefined ? 0 : shapeNumber(storage))
  return {
    get number() {
      return number()
    },
    covers: ({ shapes: seen }) => [...seen].every(isRight),
    isOf: item => item instanceof CachedItem && item.shape !== 0 && item.shape === number(),
    isOnly: ({ shapes: seen }) => [...seen].every(shape => shape === 0 || shape === number()),
    of(item) {
      if (!(item instanceof CachedItem) || isRight(item.shape)) return item
      return reshaped.get(item) ?? keep(item, reshape(item))
    },
  }
}
