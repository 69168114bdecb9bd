import { turn } from '../../framework/async/turn.ts'
import { type ApiSet, storageOfRef } from '../../framework/contract/apis.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Item, ItemEvent } from '../../framework/contract/item.ts'
import type { ItemBatch, ItemList, ItemWatch, ResourceStorage } from '../../framework/contract/storage.ts'
import {
  apiVersionOf,
  type ClusterName,
  type ClusterScope,
  type GroupVersionResource,
  groupResource,
} from '../../framework/meta/object.ts'
import type { ResourceCache } from '../cache/resource.ts'
import { customSegment } from '../cache/segments.ts'
import { asStored, readsOf, refuseWrites, shapeOf } from '../registry/storage.ts'
import { convertedEvents, convertedList, type Present, selectedAsShown } from './convertedreads.ts'
import { type ServedDefinition, servedKind } from './served.ts'
import { isStoredAs, mayHaveOthers, type Versions } from './versions.ts'

export interface AnywhereOptions {
  apis(cluster: ClusterScope): ApiSet | undefined
  /** The definitions under which clusters serve the bound resource of an identity. */
  identified(groupResource: string, identity: string): readonly ServedDefinition[]
  boundIn(cluster: ClusterName, groupResource: string, identity: string): ServedDefinition | undefined
  readonly conversionOf: Versions['conversionOf']
  cacheOf(resource: { group: string; resource: string; segment: string }): ResourceCache
  virtual(resource: GroupVersionResource): ResourceStorage
}

/**
 * One resource in any cluster: in a single cluster by its definition, over all clusters by any definition of the
 * identity. Where no cluster serves it, lists are empty and watches have no events.
 */
export function anywhere(options: AnywhereOptions, ref: ResourceRef): ResourceStorage {
  const { group, resource, identity } = ref
  const cache = options.cacheOf({ group, resource, segment: identity ?? customSegment })
  const unserved = stored(options, ref, cache)
  const of = (cluster: ClusterScope): ResourceStorage =>
    (cluster === '*' ? undefined : storageOfRef(options.apis(cluster), ref)) ?? unserved()
  return {
    get: (ctx, key) => of(key.cluster).get(ctx, key),
    list: (ctx, query) => of(query.cluster).list(ctx, query),
    watch: (ctx, query) => of(query.cluster).watch(ctx, query),
    create: (ctx, key, object, write) => of(key.cluster).create(ctx, key, object, write),
    update: (ctx, key, change, write) => of(key.cluster).update(ctx, key, change, write),
    delete: (ctx, key, check, write) => of(key.cluster).delete(ctx, key, check, write),
  }
}

/** How the objects of all clusters are read, for one set of definitions and of shapes in the cache. */
interface WildcardReads {
  readonly ways: readonly ServedDefinition[]
  readonly shapes: number
  readonly isPlain: boolean
  readonly storage: ResourceStorage
}

/** The objects of all clusters in one version, each according to the definition in its own cluster. */
function stored(options: AnywhereOptions, ref: ResourceRef, cache: ResourceCache): () => ResourceStorage {
  const { group, version, resource, identity = '' } = ref
  const name = groupResource(group, resource)
  let known: WildcardReads | undefined
  const reads = (): WildcardReads => {
    const ways = options.identified(name, identity)
    if (known?.ways !== ways || known.shapes !== cache.shapes.size)
      known = wildcardReads({ options, ref, cache, mixed }, ways)
    return known
  }
  const mixed = mixedReads({
    version,
    isPlain: () => reads().isPlain,
    asksOthers: () => reads().ways.some(({ definition }) => definition.conversion !== undefined),
    servedOf: ({ key }) => options.boundIn(key.cluster, name, identity),
    conversionOf: options.conversionOf,
  })
  return () => reads().storage
}

interface ReadsFrom {
  readonly options: AnywhereOptions
  readonly ref: ResourceRef
  readonly cache: ResourceCache
  readonly mixed: (reads: Reads) => Reads
}

function wildcardReads(
  { options, ref, cache, mixed }: ReadsFrom,
  ways: readonly ServedDefinition[],
): WildcardReads {
  const { group, version, resource } = ref
  const [first] = ways
  const shapes = cache.shapes.size
  if (first?.isVirtual) {
    const storage = options.virtual({ group, version, resource })
    return { ways, shapes, isPlain: true, storage }
  }
  const kind =
    first === undefined ? { apiVersion: apiVersionOf(group, version), kind: '' } : servedKind(first, version)
  const reads = readsOf({ group, resource, cache, kind, show: asStored })
  const all = { ...mixed(reads), ...refuseWrites({ group, resource }) }
  const plain = isPlain(ways, version, cache)
  const storage = plain ? { ...all, list: reads.list } : selectedAsShown(all, kind)
  return { ways, shapes, isPlain: plain, storage }
}

function isPlain(
  [first, ...others]: readonly ServedDefinition[],
  version: string,
  cache: ResourceCache,
): boolean {
  if (first === undefined) return true
  return others.length === 0 && isStoredAs(first, version) && shapeOf(first.definition).isOnly(cache)
}

/** Objects of clusters that may define the same resource differently. */
export interface Mixture {
  readonly version: string
  /** Whether all items are presented as they are cached. May change during a request. */
  isPlain(): boolean
  /** Whether a webhook converts some of them, which may fail. */
  asksOthers(): boolean
  /**
   * The definition of the resource in the item's cluster; undefined: there is none, and the item is presented
   * unchanged.
   */
  servedOf(item: Item): ServedDefinition | undefined
  readonly conversionOf: Versions['conversionOf']
}

type Reads = Pick<ResourceStorage, 'get' | 'list' | 'watch'>

/** Reads each object by the definition of its cluster in one version. Events are converted once for all watchers. */
function mixedReads(mixture: Mixture): (reads: Reads) => Reads {
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
      return mixture.asksOthers() ? convertedList(list, present, ctx.signal) : mixedList(list, present)
    },
    async *watch(ctx, query): ItemWatch {
      for await (const events of reads.watch(ctx, query))
        yield mixture.isPlain() ? events : await show(events)
    },
  })
}

/** Converts batch by batch, and yields to other requests in between. */
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
  isStoredAs(served, version) && !mayHaveOthers(served)
    ? async items => items
    : items => conversionOf(served).present(items, version)

const presentPart = (
  items: readonly Item[],
  { definition }: ServedDefinition,
  present: Present,
): Promise<readonly Item[]> => present(items.map(shapeOf(definition).of))
