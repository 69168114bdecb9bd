import type { Item } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { CachedItem } from '../cache/item.ts'
import type { ObjectStore } from './registry.ts'

/** The conversion between one version and the stored one. */
export interface StoreVersion {
  /** The item in the version; the same item when it is in it already. */
  present(item: CachedItem): Promise<Item>
  /** An object of the version as it is stored. */
  stored(object: KubeObject): Promise<KubeObject>
  isStored(object: KubeObject): boolean
}

/** An object store that is read and written in one version and stores another. */
export function versionedObjectStore(store: ObjectStore, version: StoreVersion): ObjectStore {
  const originals = new WeakMap<CachedItem, CachedItem>()
  const shown = async (item: CachedItem): Promise<CachedItem> => {
    const presented = await version.present(item)
    if (presented === item || !(presented instanceof CachedItem)) return item
    originals.set(presented, item)
    return presented
  }
  return {
    async current(key) {
      const item = await store.current(key)
      return item && shown(item)
    },
    isStored(item) {
      const original = originals.get(item) ?? item
      return version.isStored(original.object) && store.isStored(original)
    },
    async write(key, object, expected, options) {
      const item = await store.write(key, object && (await version.stored(object)), expected, options)
      return shown(item)
    },
    isCurrent: store.isCurrent,
    settled: store.settled,
    detached: store.detached,
  }
}
