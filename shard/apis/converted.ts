import { encodeObject } from '../../framework/encode.ts'
import { invalid } from '../../framework/errors.ts'
import { clusterAnnotation, type Item, type ItemEvent, itemFrom } from '../../framework/item.ts'
import { apiVersionOf, type KubeObject } from '../../framework/object.ts'
import type { ItemList, ItemWatch, ResourceStorage } from '../../framework/storage.ts'
import { compileCached } from '../../openapi/compile.ts'
import { claimLabelPrefix } from '../../openapi/labels.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { storedLabels } from '../registry/strategy.ts'
import { type Served, storageVersionOf } from './served.ts'

/** One version of a kind whose objects may be stored in others. */
export interface Conversion {
  /** The items in the version, in their order; what is in it already is the same item. */
  present(items: readonly Item[]): Promise<readonly Item[]>
  /** An object of this version as it is stored; `current` is what its writer has seen. Throws 422. */
  accept(object: KubeObject, current?: KubeObject): Promise<KubeObject>
}

/** A conversion by a webhook. What is read is converted once for all readers, as long as it is not forgotten. */
export function webhookConversion(served: Served, version: string, convert: ConvertObjects): Conversion {
  const { group, names, versions } = served.definition
  const schemaOf = (name: string) => compileCached(versions.find(v => v.name === name)?.schema ?? {})
  const stored = storageVersionOf(served.definition)
  const into = async (objects: readonly KubeObject[], name: string): Promise<readonly KubeObject[]> => {
    const converted = await convert(objects.map(unpresented), apiVersionOf(group, name))
    return converted.map((object, i) => presentedAs(schemaOf(name).decode(object).object, objects[i]))
  }
  const known = new WeakMap<Item, Promise<Item>>()
  const ask = (items: readonly Item[]): void => {
    const converted = into(
      items.map(({ object }) => object),
      version,
    )
    items.forEach((item, i) => {
      const next = converted.then(objects => itemFrom(encodeObject(objects[i] ?? item.object), item.key))
      next.catch(() => known.delete(item))
      known.set(item, next)
    })
  }
  return {
    present(items) {
      const apiVersion = apiVersionOf(group, version)
      const foreign = new Set(items.filter(({ object }) => object.apiVersion !== apiVersion))
      const missing = [...foreign].filter(item => !known.has(item))
      if (missing.length > 0) ask(missing)
      return Promise.all(items.map(item => (foreign.has(item) ? (known.get(item) ?? item) : item)))
    },
    async accept(object, current) {
      if (version === stored) return object
      const errors = schemaOf(version).validate(object, current)
      if (errors.length > 0) throw invalid(names.kind, group, object.metadata.name ?? '', errors)
      const [next = object] = await into([object], stored)
      return next
    },
  }
}

/** Without what the server alone says of an object: nobody converts that. */
function unpresented(object: KubeObject): KubeObject {
  const { resourceVersion: _, annotations = {}, labels, ...metadata } = object.metadata
  const { [clusterAnnotation]: __, ...own } = annotations
  const kept = storedLabels(labels)
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(Object.keys(own).length === 0 ? {} : { annotations: own }),
      ...(kept === undefined ? {} : { labels: kept }),
    },
  }
}

const ownTexts = (texts: Readonly<Record<string, string>> = {}, isOwn: (key: string) => boolean) =>
  Object.entries(texts).filter(([key]) => isOwn(key))

/** With what the server said of the original. */
function presentedAs(object: KubeObject, original: KubeObject | undefined): KubeObject {
  if (original === undefined) return object
  const { resourceVersion, annotations, labels } = original.metadata
  const own = {
    annotations: ownTexts(annotations, key => key === clusterAnnotation),
    labels: ownTexts(labels, key => key.startsWith(claimLabelPrefix)),
  }
  const texts = (['annotations', 'labels'] as const).flatMap(field => {
    const all = [...Object.entries(object.metadata[field] ?? {}), ...own[field]]
    return all.length === 0 ? [] : [[field, Object.fromEntries(all)]]
  })
  const version = resourceVersion === undefined ? {} : { resourceVersion }
  return { ...object, metadata: { ...object.metadata, ...Object.fromEntries(texts), ...version } }
}

/** One version of a storage whose reads and writes are in the stored ones. */
export function convertedStorage(storage: ResourceStorage, conversion: Conversion): ResourceStorage {
  const one = async (item: Item): Promise<Item> => (await conversion.present([item]))[0] ?? item
  return {
    get: async (ctx, key) => one(await storage.get(ctx, key)),
    list: (ctx, query) => convertedList(storage.list(ctx, query), conversion),
    watch: (ctx, query) => convertedWatch(storage.watch(ctx, query), conversion),
    create: async (ctx, key, object, options) =>
      one(await storage.create(ctx, key, await conversion.accept(object), options)),
    async update(ctx, key, change, options) {
      const inner = async (stored: Item): Promise<KubeObject> => {
        const current = await one(stored)
        const next = await change(current)
        return next === current.object ? stored.object : conversion.accept(next, current.object)
      }
      return one(await storage.update(ctx, key, inner, options))
    },
    async delete(ctx, key, check, options) {
      const inner = async (stored: Item): Promise<void> => check(await one(stored))
      const { item, removed } = await storage.delete(ctx, key, inner, options)
      return { item: await one(item), removed }
    },
  }
}

/** Converted together, before anything is sent: a list fails as a whole. */
export async function* convertedList(list: ItemList, { present }: Pick<Conversion, 'present'>): ItemList {
  const items: Item[] = []
  let next = await list.next()
  for (; !next.done; next = await list.next()) items.push(...next.value)
  if (items.length > 0) yield await present(items)
  return next.value
}

async function* convertedWatch(watch: ItemWatch, conversion: Conversion): ItemWatch {
  for await (const events of watch) yield await convertedEvents(events, conversion)
}

export async function convertedEvents(
  events: readonly ItemEvent[],
  { present }: Pick<Conversion, 'present'>,
): Promise<readonly ItemEvent[]> {
  const seen = events.flatMap(({ type, item, previous }) =>
    type === 'BOOKMARK' ? [] : previous === undefined ? [item] : [item, previous],
  )
  const shown = await present(seen)
  const of = new Map(seen.map((item, i) => [item, shown[i] ?? item]))
  return events.map(event => {
    const { item, previous } = event
    const before = previous === undefined ? {} : { previous: of.get(previous) ?? previous }
    return { ...event, item: of.get(item) ?? item, ...before }
  })
}
