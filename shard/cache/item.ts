import { type CacheItem, idOf } from '../../framework/cache/item.ts'
import { annotationsOf, decodeObject, encodeObject, type Offsets } from '../../framework/encoding/encode.ts'
import { clusterAnnotation, type Item, itemOf, type ObjectMeta } from '../../framework/item.ts'
import type { KubeObject, ObjectKey } from '../../framework/object.ts'
import { atRevision, type Place } from './codec.ts'

/** A UUID's, which is what uids are. */
const uidLength = 36
const uidKey = '"uid":"'
const onlyCluster = `"annotations":{"${clusterAnnotation}":""},`

export type Texts = Readonly<Record<string, string>>

/** What an item needs besides its bytes. */
export interface ItemState {
  /** The resourceVersion that is presented. */
  readonly revision: number
  /** The revision of the stored value: what the next commit has to expect. Never above `revision`. */
  readonly modified: number
  readonly labels: Texts
  /** Which schema the content was completed by; 0, and when absent: right under any. */
  readonly shape?: number
}

/**
 * One object in the cache: a few numbers and a place in a slab that it shares with its neighbours. Everything else is
 * made when asked for. Immutable to the outside; only where the bytes lie may change.
 */
export class CachedItem implements CacheItem, ObjectMeta {
  /** `cluster/namespace/name`: list order. */
  readonly id: string
  readonly cluster: string
  readonly namespace: string
  readonly revision: number
  readonly modified: number
  readonly labels: Texts
  readonly shape: number
  readonly length: number
  readonly #metadata: number
  readonly #labels: number
  readonly #version: number
  readonly #rest: number
  readonly #end: number
  #slab: Buffer
  #start: number
  #decoded: WeakRef<KubeObject> | undefined

  constructor(key: ObjectKey, { bytes, offsets, start = 0, length = bytes.length }: Place, state: ItemState) {
    this.id = idOf(key)
    this.cluster = key.cluster
    this.namespace = key.namespace
    this.revision = state.revision
    this.modified = state.modified
    this.labels = state.labels
    this.shape = state.shape ?? 0
    this.length = length
    this.#metadata = offsets.metadata
    this.#labels = offsets.labels
    this.#version = offsets.version
    this.#rest = offsets.rest
    this.#end = offsets.end
    this.#slab = bytes
    this.#start = start
  }

  get name(): string {
    return this.id.slice(this.cluster.length + this.namespace.length + 2)
  }

  get key(): ObjectKey {
    return { cluster: this.cluster, namespace: this.namespace, name: this.name }
  }

  get bytes(): Buffer {
    return this.#slab.subarray(this.#start, this.#start + this.length)
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

  get resourceVersion(): string {
    return String(this.revision)
  }

  get meta(): ObjectMeta {
    return this
  }

  metaWith(labels: Texts): ObjectMeta {
    if (labels === this.labels) return this
    const { cluster, namespace, name, uid, annotations, resourceVersion } = this
    return { cluster, namespace, name, uid, resourceVersion, labels, annotations }
  }

  /** Canonical metadata is sorted, so that it ends with the uid. */
  get uid(): string {
    const tail = this.#text(this.#end - uidKey.length - uidLength - 1, this.#end)
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

  #text(from: number, to: number): string {
    return this.#slab.toString('latin1', this.#start + from, this.#start + to)
  }

  copy(target: Buffer, start: number): number {
    return this.#slab.copy(target, start, this.#start, this.#start + this.length)
  }

  move(slab: Buffer, start: number): void {
    this.copy(slab, start)
    this.#slab = slab
    this.#start = start
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
