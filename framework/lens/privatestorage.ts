import { after } from '../async/awaitable.ts'
import type { Item, ItemEvent } from '../contract/item.ts'
import type { ItemList, ItemWatch, ResourceStorage } from '../contract/storage.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { Offsets } from '../wire/encode.ts'
import { copyJson, PrivateMeta } from './privatecopy.ts'

/** An item whose object, labels and annotations can be changed without an effect on the original. The bytes are shared. */
class PrivateItem implements Item {
  readonly key: ObjectKey
  readonly meta: Item['meta']
  readonly #item: Item
  #object: KubeObject | undefined

  constructor(item: Item) {
    this.#item = item
    this.key = Object.freeze({ ...item.key })
    this.meta = new PrivateMeta(item.meta)
  }
  static original(item: object): object {
    return #item in item ? item.#item : item
  }
  get bytes(): Buffer {
    return this.#item.bytes
  }
  get offsets(): Offsets {
    return this.#item.offsets as Offsets
  }
  get length(): number {
    return this.#item.length ?? this.#item.bytes.length
  }
  get object(): KubeObject {
    this.#object ??= copyJson(this.#item.object)
    return this.#object
  }
  copy(target: Buffer, start: number): number {
    return this.#item.copy?.(target, start) ?? this.#item.bytes.copy(target, start)
  }
}

export const privateItem = (item: Item): Item => new PrivateItem(item)

/** The item behind a private one, which is the same at each read of a stored object; other objects unchanged. Not for plugins. */
export const originalItem = (item: object): object => PrivateItem.original(item)

export const privateEvent = ({ type, item, previous }: ItemEvent): ItemEvent => ({
  type,
  item: privateItem(item),
  ...(previous && { previous: privateItem(previous) }),
})

const originals = new WeakMap<ResourceStorage, ResourceStorage>()

/** The storage behind a private one; other storages unchanged. Its items must not be given to plugins. */
export const originalStorage = <S extends object>(storage: S): S =>
  (originals.get(storage as unknown as ResourceStorage) ?? storage) as S

/** A storage for plugins: changes of its items do not change stored objects. */
export function privateStorage(storage: ResourceStorage): ResourceStorage {
  const made: ResourceStorage = {
    get: (ctx, key) => after(storage.get(ctx, key), privateItem),
    list: (ctx, query) => privateList(storage.list(ctx, query)),
    watch: (ctx, query) => privateWatch(storage.watch(ctx, query)),
    create: async (...args) => privateItem(await storage.create(...args)),
    update: async (ctx, key, change, options) =>
      privateItem(await storage.update(ctx, key, current => change(privateItem(current)), options)),
    delete: async (ctx, key, check, options) => {
      const deletion = await storage.delete(ctx, key, current => check(privateItem(current)), options)
      return { ...deletion, item: privateItem(deletion.item) }
    },
  }
  originals.set(made, storage)
  return made
}

async function* privateList(list: ItemList): ItemList {
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) yield Array.from(next.value, privateItem)
    return next.value
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

async function* privateWatch(watch: ItemWatch): ItemWatch {
  for await (const events of watch) yield events.map(privateEvent)
}
