import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import { type PresentedMeta, SlabItem } from '../../framework/cache/page.ts'
import type * as shared from '../../framework/cache/ring.ts'
import { clusterAnnotation, type Item, itemOf } from '../../framework/contract/item.ts'
import { canonicalJson } from '../../framework/json/json.ts'
import { sameJson } from '../../framework/json/same.ts'
import type { ClusterName, KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import {
  annotationsOf,
  decodeObject,
  type Encoded,
  encodeObject,
  hasMany,
  type Offsets,
  type Texts,
} from '../../framework/wire/encode.ts'
import {
  canonicalObjectSteps,
  decodedAtOnce,
  decodeObjectSteps,
  encodeCanonicalSteps,
} from '../../framework/wire/encodesteps.ts'
import { relabel } from '../../framework/wire/relabel.ts'
import type { StoredValue } from '../store/store.ts'
import { Arena, atRevision, type EncodedSlice, type StoredResource, shapeIn } from './codec.ts'

/** The length of a UUID. */
const uidLength = 36
const uidKey = '"uid":"'
const uidMember = `,${uidKey}`
const createdKey = '"creationTimestamp":"'
const createdEnd = 'Z",'
/** The end of a creationTimestamp without a fraction of a second. */
const createdLength = `${createdKey}2006-01-02T15:04:05${createdEnd}`.length
const ownersKey = '"ownerReferences":['
const deletionKey = '"deletion'
const onlyCluster = `"annotations":{"${clusterAnnotation}":""},`

/** The state of an item besides its bytes. */
export interface ItemState extends PresentedMeta {
  /** The revision of the stored value, which the next commit expects. Never above `revision`. */
  readonly modified: number
  /** The number of the schema that the content was defaulted and pruned by; 0 and absent: any. */
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

  /**
   * Every object has the annotation of its cluster, and most have no other: then the length of the annotations is known.
   */
  get annotations(): Texts {
    const isOnly = this.#labels - this.#metadata === onlyCluster.length + this.cluster.length
    if (isOnly) return { [clusterAnnotation]: this.cluster }
    return this.#decoded?.deref()?.metadata.annotations ?? annotationsOf(this)
  }

  /** Canonical metadata is sorted and ends with the uid. */
  get uid(): string {
    const tail = this.text(this.#end - uidKey.length - uidLength - 1, this.#end)
    if (tail.startsWith(uidKey) && tail.endsWith('"')) return tail.slice(uidKey.length, -1)
    return this.object.metadata.uid ?? ''
  }

  /**
   * Whether the metadata can have owner references, without decoding: in canonical metadata only they end with `]` before
   * the uid.
   */
  get mayHaveOwners(): boolean {
    const before = this.#end - uidKey.length - uidLength - 3
    const isKnown = this.hasAt(before + 1, uidMember) && this.hasAt(this.#end - 1, '"')
    return isKnown ? this.hasAt(before, ']') : this.object.metadata.ownerReferences !== undefined
  }

  /** The bytes of the owner references, without decoding. In strings the quotes of the key are escaped. */
  get ownerBytes(): number {
    if (!this.mayHaveOwners) return 0
    const parts = this.text(this.#rest, this.#end).split(ownersKey)
    return parts.length === 1 ? 0 : ownersKey.length + (parts.at(-1) ?? '').length
  }

  /**
   * Whether the metadata can have a deletionTimestamp, without decoding: in canonical metadata it or the grace period is
   * behind the creationTimestamp.
   */
  get mayBeTerminating(): boolean {
    const end = this.#rest + createdLength
    const isKnown = this.hasAt(this.#rest, createdKey) && this.hasAt(end - createdEnd.length, createdEnd)
    return !isKnown || this.hasAt(end, deletionKey)
  }

  /** Whether the metadata has a deletionTimestamp; decodes only metadata that may have one. */
  get isTerminating(): boolean {
    if (!this.mayBeTerminating) return false
    const behindVersion = this.bytes.toString('utf8', this.#rest, this.#end)
    return JSON.parse(`{${behindVersion}}`).deletionTimestamp !== undefined
  }

  /** Decoded on first use, and again after the result was garbage-collected, or where a job decodes much. */
  get object(): KubeObject {
    const known = this.#decoded?.deref()
    if (known !== undefined) return known
    const object = decodeObject(this.bytes)
    if (mayKeep(this.length)) this.#decoded = new WeakRef(object)
    return object
  }

  /** The object, which is decoded and not kept unless it is known. */
  get objectOnce(): KubeObject {
    return this.#decoded?.deref() ?? decodeObject(this.bytes)
  }

  /** Decodes a long object between the turns of other requests, for a reader that follows. */
  async decode(): Promise<void> {
    if (this.length <= decodedAtOnce || this.#decoded?.deref() !== undefined) return
    this.#decoded = new WeakRef(await inTurns(decodeObjectSteps(this.bytes), new Pace()))
  }

  /** Keeps the object that was encoded, so that it is not decoded, unless labels are presented in addition. */
  remember(object: KubeObject): void {
    if (this.#decoded?.deref() === undefined && sameJson(object.metadata.labels ?? {}, this.labels))
      this.#decoded = new WeakRef(object)
  }

  at(revision: number): CachedItem {
    const { modified, labels, shape } = this
    return new CachedItem(this, atRevision(this, revision), { revision, modified, labels, shape })
  }
}

/** Bytes of JSON. Objects take ten times as much, and one that a WeakRef was made for in a job of the event loop stays until it ends. */
const mostKept = 16 * 1024 * 1024

/** The bytes of the objects that were kept in this job. */
let kept = 0

function mayKeep(bytes: number): boolean {
  if (kept === 0) setImmediate(() => (kept = 0))
  kept += bytes
  return kept <= mostKept
}

/**
 * The object of an item, for a reader of many items: an object that `object` has decoded stays in memory until the job of the
 * event loop ends, and the objects of a tenant together may have a gigabyte.
 */
export const objectOnce = (item: Item): KubeObject =>
  item instanceof CachedItem ? item.objectOnce : item.object

export function itemAs(item: CachedItem, object: KubeObject): CachedItem
export function itemAs(item: Item, object: KubeObject): Item
/** The same state of the same object in another form, for instance another version. */
export function itemAs(item: Item, object: KubeObject): Item {
  if (!(item instanceof CachedItem)) return itemOf(object, item.key.cluster)
  return encodedAs(item, object, encodeObject(object))
}

/** What `itemAs` returns, in steps. */
export function* itemAsSteps(item: Item, object: KubeObject): Generator<void, Item> {
  if (!(item instanceof CachedItem) || !hasMany(object)) return itemAs(item, object)
  const canonical = yield* canonicalObjectSteps(object)
  return encodedAs(item, object, yield* encodeCanonicalSteps(canonical))
}

function encodedAs(item: CachedItem, object: KubeObject, encoded: Encoded): CachedItem {
  const { revision, modified } = item
  return new CachedItem(item, encoded, { revision, modified, labels: object.metadata.labels ?? {} })
}

/** One change of one object of the watch cache. */
export type WatchCacheEvent = shared.CacheEvent<CachedItem>

/** A stored object and its key in the cache. */
export interface Loaded {
  readonly key: ObjectKey
  readonly stored: StoredValue
}

/** Labels that are presented but not stored. */
export interface Decorator {
  /** The prefix of all its labels. Stored labels with the prefix are not presented. */
  readonly prefix: string
  /** From memory, for an object with these stored labels. undefined: no labels. */
  labels(resource: StoredResource, cluster: ClusterName, stored: Texts): Texts | undefined
}

const none: Texts = Object.freeze({})
const mostShared = 4_096
/** Characters of the JSON of a shared label set: tenants choose labels, and sets are kept after their objects. */
const longestShared = 1_024
const labelsKey = '"labels":'
const slabSize = 8 * 1_024

const size = (texts: Texts): number => Object.keys(texts).length
const equal = (a: Texts, b: Texts): boolean =>
  size(a) === size(b) && Object.entries(a).every(([key, value]) => b[key] === value)

/** Makes items of stored values. */
export class Builder {
  readonly #arena = new Arena(slabSize)
  #decorator: Decorator | undefined
  /** Label sets by their JSON: equal ones are one object. */
  #shared = new Map<string, Texts>()

  /** Sets the decorator whose labels new items get. */
  use(decorator: Decorator): void {
    this.#decorator = decorator
  }

  /** Copies the bytes of the item into `arena`. */
  build(
    resource: StoredResource,
    { key, stored: { value, modified } }: Loaded,
    arena = this.#arena,
  ): CachedItem {
    const place = arena.present(value, modified)
    const item = new CachedItem(key, place, {
      revision: modified,
      modified,
      labels: this.#labels(place),
      shape: shapeIn(value),
    })
    return this.redecorate(resource, item, modified) ?? item
  }

  /** The item with the current labels, presented at `revision`; undefined when they are the same. */
  redecorate(resource: StoredResource, item: CachedItem, revision: number): CachedItem | undefined {
    const labels = this.#decorated(resource, item)
    return labels === item.labels || equal(labels, item.labels)
      ? undefined
      : this.#relabelled(item, labels, revision)
  }

  #relabelled(item: CachedItem, labels: Texts, revision: number): CachedItem {
    const encoded = relabel(item, { labels })
    const place = revision === item.revision ? encoded : atRevision(encoded, revision)
    const { modified, shape } = item
    return new CachedItem(item, place, { revision, modified, labels, shape })
  }

  #decorated(resource: StoredResource, item: CachedItem): Texts {
    const decorator = this.#decorator
    if (decorator === undefined) return item.labels
    const own = Object.entries(item.labels).filter(([label]) => !label.startsWith(decorator.prefix))
    const stored = own.length === size(item.labels) ? item.labels : Object.fromEntries(own)
    const added = decorator.labels(resource, item.cluster, stored)
    return added === undefined || size(added) === 0 ? stored : this.#share({ ...stored, ...added })
  }

  #labels({ bytes, offsets, start = 0 }: EncodedSlice): Texts {
    const { labels, version } = offsets
    if (labels === version) return none
    const json = bytes.toString('utf8', start + labels + labelsKey.length, start + version - 1)
    return this.#shared.get(json) ?? this.#share(JSON.parse(json), json)
  }

  /** `json` is the canonical JSON of the labels. */
  #share(labels: Texts, json = canonicalJson(labels)): Texts {
    if (json.length > longestShared) return labels
    const known = this.#shared.get(json)
    if (known !== undefined) return known
    if (this.#shared.size >= mostShared) this.#shared = new Map()
    this.#shared.set(json, labels)
    return labels
  }
}
