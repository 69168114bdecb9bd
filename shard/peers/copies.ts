import { isDeepStrictEqual } from 'node:util'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import { type Item, originAnnotation } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { ClusterContent } from '../bindings/content.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import type { StoreChange } from '../store/store.ts'

/** An object as another shard has it. */
export interface PeerObject {
  readonly resource: ResourceRef
  readonly item: Item
}

/** Labels by which views select: a copy is in none. */
const selected = /^(claimed|initializer|terminator)\.internal\./

/** With its uid, which bindings name; without what would make this shard's own controllers responsible for it. */
export function copyOf(object: KubeObject, origin: string): KubeObject {
  const { resourceVersion, managedFields, ownerReferences, finalizers, ...metadata } = object.metadata
  const { labels = {}, annotations, ...kept } = metadata
  const shown = Object.entries(labels).filter(([key]) => !selected.test(key))
  return {
    ...object,
    metadata: {
      ...kept,
      annotations: { ...annotations, [originAnnotation]: origin },
      ...(shown.length === 0 ? {} : { labels: Object.fromEntries(shown) }),
    },
  }
}

/** What stores a copy; undefined when it is there. It never takes the place of an object of this shard's own. */
export function changeTo(
  content: Pick<ClusterContent, 'get'>,
  { resource, item }: PeerObject,
  origin: string,
): StoreChange | undefined {
  const place = storedResourceOf(resource)
  const known = content.get(place, item.key)?.item
  const next = copyOf(item.object, origin)
  if (known !== undefined) {
    const isForeign = known.meta.annotations[originAnnotation] !== origin
    if (isForeign || isDeepStrictEqual(copyOf(known.object, origin), next)) return undefined
  }
  return { key: storageKey(place, item.key), value: encodeStored(next), expected: known?.modified ?? 0 }
}
