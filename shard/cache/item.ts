import type * as shared from '../../framework/cache/event.ts'
import { type PresentedMeta, SlabItem } from '../../framework/cache/item.ts'
import { clusterAnnotation, type Item, itemOf, type ObjectMeta } from '../../framework/contract/item.ts'
import { sameJson } from '../../framework/json/json.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import {
  annotationsOf,
  decodeObject,
  encodeObject,
  type Offsets,
  type Texts,
} from '../../framework/wire/encode.ts'
import { atRevision, type EncodedSlice } from './codec.ts'

/** A UUID's, which is what uids are. */
const uidLength = 36
const uidKey = '"uid":"'
const onlyCluster = `"annotations":{"${clusterAnnotation}":""},`

/** What an item needs besides its bytes. */
export interface ItemState extends PresentedMeta {
  /** The revision of the stored value: what the next commit has to expect. Never above `revision`. */
  readonly modified: number
  /** Which schema the content was completed by; 0, and when absent: right under any. */
  readonly shape?: number
}

/** One object in the cache, with the offsets of its canonical encoding. */
export class CachedItem extends SlabItem {
  readonly modified: number
  readonly shape: number
  readonly #metadata: number
  readonly #labels: number
  readonly #version: number
  readonly #rest: number
  readonly #end: number
  #decoded: WeakRef<KubeObject> | undefined

  constructor(
    key: ObjectKey,
    { bytes, offsets, start = 0, length = bytes.length }: EncodedSlice,
    state: ItemState,
  ) {
    super(key, { slab: bytes, start, length }, state)
    this.modified = state.modified
    this.shape = state.shape ?? 0
    this.#metadata = offsets.metadata
    this.#labels = offsets.labels
    this.#version = offsets.version
    this.#rest = offsets.rest
    this.#end = offsets.end
  }

  get offsets(): Offsets {
    return {
      metadata: this.#metadata,
      labels: this.#labels,
      version: this.#version,
      rest: this.#rest,
      end: this.#end,
    }
  }

  /** Most objects have no annotation but the one that names their cluster, which every object has: then the length of
   * them all says so. */
  get annotations(): Texts {
    const isOnly = this.#labels - this.#metadata === onlyCluster.length + this.cluster.length
    return isOnly ? { [clusterAnnotation]: this.cluster } : annotationsOf(this)
  }

  metaWith(labels: Texts): ObjectMeta {
    if (labels === this.labels) return this
    const { cluster, namespace, name, uid, annotations, resourceVersion } = this
    return { cluster, namespace, name, uid, resourceVersion, labels, annotations }
  }

  /** Canonical metadata is sorted, so that it ends with the uid. */
  get uid(): string {
    const tail = this.text(this.#end - uidKey.length - uidLength - 1, this.#end)
    if (tail.startsWith(uidKey) && tail.endsWith('"')) return tail.slice(uidKey.length, -1)
    return this.object.metadata.uid ?? ''
  }

  /** Decoded on first use, and again once nobody holds the last result. */
  get object(): KubeObject {
    const known = this.#decoded?.deref()
    if (known !== undefined) return known
    const object = decodeObject(this.bytes)
    this.#decoded = new WeakRef(object)
    return object
  }

  /** Who has encoded it need not decode it: `object` is what the bytes say, unless more labels are presented. */
  remember(object: KubeObject): void {
    if (this.#decoded?.deref() === undefined && sameJson(object.metadata.labels ?? {}, this.labels))
      this.#decoded = new WeakRef(object)
  }

  at(revision: number): CachedItem {
    const { modified, labels, shape } = this
    return new CachedItem(this, atRevision(this, revision), { revision, modified, labels, shape })
  }
}

export function itemAs(item: CachedItem, object: KubeObject): CachedItem
export function itemAs(item: Item, object: KubeObject): Item
/** The same state of the same object in another form: another version, for instance. */
export function itemAs(item: Item, object: KubeObject): Item {
  if (!(item instanceof CachedItem)) return itemOf(object, item.key.cluster)
  const { revision, modified } = item
  return new CachedItem(item, encodeObject(object), {
    revision,
    modified,
    labels: object.metadata.labels ?? {},
  })
}

/** Whether a resourceVersion that a client sent names the current content of an object. It does from the last stored
 * change on: later presented versions differ in presented labels only. */
export const isCurrent = (item: CachedItem, resourceVersion: string): boolean =>
  Number(resourceVersion) >= item.modified && Number(resourceVersion) <= item.revision

/** One change of one object of the watch cache. */
export type WatchCacheEvent = shared.CacheEvent<CachedItem>
