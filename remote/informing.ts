import type { ResourceRef } from '../framework/contract/backend.ts'
import type { RequestContext } from '../framework/contract/context.ts'
import { type Item, type ItemEvent, itemOf } from '../framework/contract/item.ts'
import type {
  ItemList,
  ItemWatch,
  ListQuery,
  ResourceStorage,
  WatchQuery,
} from '../framework/contract/storage.ts'
import { StatusError } from '../framework/meta/errors.ts'
import type { ObjectKey } from '../framework/meta/object.ts'
import { bookmark } from '../framework/responses/bookmark.ts'
import type { ShardConnection } from './connection/connection.ts'
import { remoteStorage } from './storage.ts'

/** Asks for metadata only (Kubernetes `metav1.PartialObjectMetadata`): events and lists have names of their own. */
const partialFor = (target: string): string => {
  const kind = target.includes('watch=true') ? 'PartialObjectMetadata' : 'PartialObjectMetadataList'
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`
}

/** The storage from which informers read all logical clusters of a shard. */
export function informerStorage(connection: ShardConnection, ref: ResourceRef): ResourceStorage {
  const storage = remoteStorage(connection, ref)
  if (ref.identity !== undefined) return storage
  const ofMetadata: ShardConnection = {
    ...connection,
    ask: request =>
      connection.ask({ ...request, headers: { accept: partialFor(request.target), ...request.headers } }),
  }
  const scattered = new ScatteredObjects(storage, remoteStorage(ofMetadata, ref))
  return {
    ...storage,
    list: (ctx, query) => orElse(storage.list(ctx, query), () => scattered.list(ctx, query)),
    watch: (ctx, query) => orElse(storage.watch(ctx, query), () => scattered.watch(ctx, query)),
  }
}

/** The values of the first generator, or of the other one if the shard does not serve the resource to the first. */
async function* orElse<T, R>(
  first: AsyncGenerator<T, R, undefined>,
  other: () => AsyncGenerator<T, R, undefined>,
): AsyncGenerator<T, R, undefined> {
  try {
    return yield* first
  } catch (error) {
    if (codeOf(error) !== 404) throw error
    return yield* other()
  }
}

const codeOf = (error: unknown): number | undefined => (error instanceof StatusError ? error.code : undefined)

/** The key as text. */
const textOf = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/**
 * The objects of CustomResourceDefinitions that several logical clusters have. A shard serves them over all logical clusters as
 * metadata only (kcp `pkg/server/apiextensions.go`, getForWildcardPartialMetadata), so that each object is read in its logical cluster.
 */
class ScatteredObjects {
  readonly #objects: ResourceStorage
  readonly #metadata: ResourceStorage
  /** The last state of each object, for the events of deletions. */
  readonly #last = new Map<string, Item>()

  constructor(objects: ResourceStorage, metadata: ResourceStorage) {
    this.#objects = objects
    this.#metadata = metadata
  }

  /** The objects may be newer than the resourceVersion of the list: a watch from there repeats their events. */
  async *list(ctx: RequestContext, query: ListQuery): ItemList {
    const clusters = new Set<string>()
    const list = this.#metadata.list(ctx, query)
    let next = await list.next()
    for (; !next.done; next = await list.next()) for (const { key } of next.value) clusters.add(key.cluster)
    this.#last.clear()
    for (const cluster of clusters) yield* this.#within(ctx, { ...query, cluster })
    return next.value
  }

  /** The events have the objects as they are now. Each batch ends with a bookmark, because objects may be newer than their event. */
  async *watch(ctx: RequestContext, query: WatchQuery): ItemWatch {
    for await (const events of this.#metadata.watch(ctx, { ...query, bookmarks: true })) {
      const shown = await Promise.all(newestOf(events).map(event => this.#event(ctx, event)))
      const { object } = (events.at(-1) as ItemEvent).item
      yield [
        ...shown.filter(event => event !== undefined),
        bookmark(object, Number(object.metadata.resourceVersion)),
      ]
    }
  }

  async *#within(ctx: RequestContext, query: ListQuery): AsyncGenerator<readonly Item[], void> {
    try {
      for await (const batch of this.#objects.list(ctx, query)) {
        const items = [...batch]
        for (const item of items) this.#last.set(textOf(item.key), item)
        yield items
      }
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  async #event(ctx: RequestContext, { type, item }: ItemEvent): Promise<ItemEvent | undefined> {
    if (type === 'BOOKMARK') return undefined
    const id = textOf(item.key)
    if (type === 'DELETED') return { type, item: this.#deleted(id, item) }
    try {
      const current = await this.#objects.get(ctx, item.key)
      this.#last.set(id, current)
      return { type, item: current }
    } catch (error) {
      if (!isGone(error)) throw error
      return undefined
    }
  }

  /** The last state, with the metadata of the deletion. */
  #deleted(id: string, { object: { metadata }, key }: Item): Item {
    const last = this.#last.get(id)?.object
    this.#last.delete(id)
    return itemOf({ apiVersion: '', kind: '', ...last, metadata }, key.cluster)
  }
}

/** The object was deleted, the logical cluster does not serve its kind any more, or it is inactive: it is no failure of the informer. */
const isGone = (error: unknown): boolean => codeOf(error) === 404 || codeOf(error) === 403

/** The last event of each object. */
const newestOf = (events: readonly ItemEvent[]): readonly ItemEvent[] => [
  ...new Map(events.map(event => [textOf(event.item.key), event])).values(),
]
