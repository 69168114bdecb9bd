import type { Item } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { CachedItem } from '../cache/item.ts'
import type { Shelf } from './registry.ts'

/** How objects of one version come from the shelf, and go there. */
export interface VersionOfShelf {
  /** The item in the version; the same item when it is in it already. */
  present(item: CachedItem): Promise<Item>
  /** An object of the version as it is stored. */
  stored(object: KubeObject): Promise<KubeObject>
  isStored(object: KubeObject): boolean
}

/** A shelf whose objects are taken and put in one version, and lie there in another. */
export function versionedShelf(shelf: Shelf, version: VersionOfShelf): Shelf {
  const originals = new WeakMap<CachedItem, CachedItem>()
  const shown = async (item: CachedItem): Promise<CachedItem> => {
    const presented = await version.present(item)
    if (presented === item || !(presented instanceof CachedItem)) return item
    originals.set(presented, item)
    return presented
  }
  return {
    async current(key) {
      const item = await shelf.current(key)
      return item && shown(item)
    },
    isStored(item) {
      const original = originals.get(item) ?? item
      return version.isStored(original.object) && shelf.isStored(original)
    },
    async write(key, object, expected) {
      const item = await shelf.write(key, object && (await version.stored(object)), expected)
      return shown(item)
    },
    settled: shelf.settled,
    detached: shelf.detached,
  }
}
