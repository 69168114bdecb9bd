import type { ClusterName, KubeObject, Metadata, ObjectKey } from '../meta/object.ts'
import {
  annotationsOf,
  decodeObject,
  type Encoded,
  encodeObject,
  labelsOf,
  type Offsets,
  resourceVersionOf,
  type Texts,
  uidOf,
} from '../wire/encode.ts'
import {
  type EncodedSource,
  longestReplaced,
  type Relabeling,
  type Replacement,
  relabel,
  relabeledMetadata,
  replacementFor,
  writeReplaced,
} from '../wire/relabel.ts'

/**
 * The part of `metadata` that filters read, without decoding the object. Members may be accessors: do not spread it.
 */
export interface ObjectMeta extends ObjectKey {
  readonly uid: string
  /** A decimal number without leading zeros (rules.md 3.28). */
  readonly resourceVersion: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** One stored object, as JSON in `bytes`. `meta` and `object` are decoded on first use. */
export interface Item {
  readonly key: ObjectKey
  readonly meta: ObjectMeta
  /** The object as JSON on one line, without a trailing newline, as it is sent to clients. */
  readonly bytes: Buffer
  /** The positions of metadata in `bytes`, if they are in the canonical encoding. */
  readonly offsets?: Offsets
  /** Of the object, where reading it takes less work than the object or its canonical encoding. */
  readonly metadata?: Metadata | undefined
  readonly object: KubeObject
  /** Writes `bytes` into `target` at `start` and returns their number, at most `length`. */
  readonly copy?: (target: Buffer, start: number) => number
  readonly length?: number
}

/** The types of watch events of an object. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'

/**
 * A watch event. `previous` is the state before the change (absent for ADDED and BOOKMARK). The item of a DELETED event is
 * the last state with the resourceVersion of the deletion. The item of a BOOKMARK event has only apiVersion, kind,
 * metadata.resourceVersion and, at the end of initial events, an annotation (rules.md 4.52 to 4.55).
 */
export interface ItemEvent {
  readonly type: EventType
  readonly item: Item
  readonly previous?: Item
}

/** The annotation with the logical cluster of an object (kcp `sdk/apis/core`, `logicalcluster.AnnotationKey`). */
export const clusterAnnotation = 'kcp.io/cluster'

/** The annotation of copies with the shard of the original, as in kcp's cache server. */
export const originAnnotation = 'kcp.io/shard'

/** Whether an object is a copy of an object on another shard. */
export const isCopied = ({ annotations }: Pick<ObjectMeta, 'annotations'>): boolean =>
  annotations[originAnnotation] !== undefined

/** The annotation of the bookmark at the end of the initial events (rules.md 4.55). */
export const initialEventsEnd = 'k8s.io/initial-events-end'

/** Metadata in canonical bytes; each part is read on first use. */
class EncodedMeta implements ObjectMeta {
  readonly cluster: ClusterName
  readonly namespace: string
  readonly name: string
  readonly #encoded: Encoded
  #labels: Texts | undefined
  #annotations: Texts | undefined
  constructor(encoded: Encoded, { cluster, namespace, name }: ObjectKey) {
    this.cluster = cluster
    this.namespace = namespace
    this.name = name
    this.#encoded = encoded
  }
  get uid(): string {
    return uidOf(this.#encoded)
  }
  get resourceVersion(): string {
    return resourceVersionOf(this.#encoded)
  }
  get labels(): Texts {
    this.#labels ??= labelsOf(this.#encoded)
    return this.#labels
  }
  get annotations(): Texts {
    this.#annotations ??= annotationsOf(this.#encoded)
    return this.#annotations
  }
}

/** Metadata with other labels or annotations. */
class RelabeledMeta implements ObjectMeta {
  readonly cluster: ClusterName
  readonly namespace: string
  readonly name: string
  readonly labels: Texts
  readonly #meta: ObjectMeta
  readonly #annotations: Texts | undefined
  constructor(meta: ObjectMeta, { labels, annotations }: Relabeling) {
    this.cluster = meta.cluster
    this.namespace = meta.namespace
    this.name = meta.name
    this.labels = labels ?? meta.labels
    this.#meta = meta
    this.#annotations = annotations
  }
  get uid(): string {
    return this.#meta.uid
  }
  get resourceVersion(): string {
    return this.#meta.resourceVersion
  }
  get annotations(): Texts {
    return this.#annotations ?? this.#meta.annotations
  }
}

class EncodedItem implements Item {
  readonly key: ObjectKey
  readonly bytes: Buffer
  readonly offsets: Offsets
  #meta: ObjectMeta | undefined
  #object: KubeObject | undefined
  constructor(encoded: Encoded, key: ObjectKey) {
    this.key = key
    this.bytes = encoded.bytes
    this.offsets = encoded.offsets
  }
  get meta(): ObjectMeta {
    this.#meta ??= new EncodedMeta(this, this.key)
    return this.#meta
  }
  copy(target: Buffer, start: number): number {
    return this.bytes.copy(target, start)
  }
  get object(): KubeObject {
    this.#object ??= decodeObject(this.bytes)
    return this.#object
  }
}

/** A decoded object; it is encoded on first use of the bytes. */
class ObjectItem implements Item {
  readonly key: ObjectKey
  readonly object: KubeObject
  #encoded: Encoded | undefined
  constructor(object: KubeObject, key: ObjectKey) {
    this.object = object
    this.key = key
  }
  get meta(): ObjectMeta {
    return metaOf(this.object.metadata, this.key)
  }
  get metadata(): Metadata {
    return this.object.metadata
  }
  get bytes(): Buffer {
    return this.#encode().bytes
  }
  get offsets(): Offsets {
    return this.#encode().offsets
  }
  #encode(): Encoded {
    this.#encoded ??= encodeObject(this.object)
    return this.#encoded
  }
}

/** An item with other labels or annotations. `copy` writes the old bytes and the changes into the send buffer, in one pass. */
class RelabeledItem implements Item {
  readonly #item: Item
  readonly #relabeling: Relabeling
  #replacement: Replacement | undefined
  #encoded: Encoded | undefined
  #object: KubeObject | undefined
  constructor(item: Item, relabeling: Relabeling) {
    this.#item = item
    this.#relabeling = relabeling
  }
  get key(): ObjectKey {
    return this.#item.key
  }
  get meta(): ObjectMeta {
    return new RelabeledMeta(this.#item.meta, this.#relabeling)
  }
  get metadata(): Metadata | undefined {
    const { metadata } = this.#item
    return metadata && relabeledMetadata(metadata, this.#relabeling)
  }
  get bytes(): Buffer {
    return this.#encode().bytes
  }
  get offsets(): Offsets {
    return this.#encode().offsets
  }
  get object(): KubeObject {
    this.#object ??= decodeObject(this.bytes)
    return this.#object
  }
  get length(): number {
    const replacement = this.#replaced()
    return replacement === undefined
      ? this.bytes.length
      : longestReplaced({ length: lengthOf(this.#item) }, replacement)
  }
  copy(target: Buffer, start: number): number {
    const replacement = this.#replaced()
    if (replacement === undefined) return this.bytes.copy(target, start)
    return writeReplaced(sourceOf(this.#item), replacement, target, start)
  }
  /** undefined if the whole item must be encoded. */
  #replaced(): Replacement | undefined {
    const { offsets } = this.#item
    if (this.#replacement === undefined && offsets !== undefined)
      this.#replacement = replacementFor(offsets, this.#relabeling)
    return this.#replacement
  }
  #encode(): Encoded {
    this.#encoded ??= relabel(encodedOf(this.#item), this.#relabeling)
    return this.#encoded
  }
}

/** The upper bound of an item's encoded length, in bytes. */
export const lengthOf = (item: Item): number => item.length ?? item.bytes.length

/** The source of the bytes of an item. */
const sourceOf = (item: Item): Pick<EncodedSource, 'copy'> =>
  item.copy === undefined ? item.bytes : (item as EncodedSource)

/** The part of a decoded object's metadata that filters read. */
export const metaOf = (metadata: Metadata, key: ObjectKey): ObjectMeta => ({
  ...key,
  uid: metadata.uid ?? '',
  resourceVersion: metadata.resourceVersion ?? '',
  labels: metadata.labels ?? {},
  annotations: metadata.annotations ?? {},
})

/** The key of a decoded object in a logical cluster; namespace and name are '' if absent. */
export const keyOf = (object: KubeObject, cluster: ClusterName): ObjectKey => ({
  cluster,
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name ?? '',
})

/** An item from canonical bytes, decoded on first use. */
export const itemFrom = (encoded: Encoded, key: ObjectKey): Item => new EncodedItem(encoded, key)

/** An item from a decoded object in a logical cluster, encoded on first use of its bytes. The object must not change later. */
export const itemOf = (object: KubeObject, cluster: ClusterName): Item =>
  new ObjectItem(object, keyOf(object, cluster))

/** An item with other labels or annotations, encoded on first use; absent members of `relabeling` change nothing. */
export const relabeledItem = (item: Item, relabeling: Relabeling): Item => new RelabeledItem(item, relabeling)

/**
 * An item from JSON, such as the response of another server. Its logical cluster is that of the annotation
 * `kcp.io/cluster`, else `cluster`. Throws `SyntaxError`.
 */
export function decodeItem(bytes: Buffer, cluster: ClusterName = ''): Item {
  const object = decodeObject(bytes)
  return itemOf(object, object.metadata.annotations?.[clusterAnnotation] ?? cluster)
}

/** The canonical encoding of an item. */
export const encodedOf = (item: Item): Encoded =>
  item.offsets === undefined ? encodeObject(item.object) : { bytes: item.bytes, offsets: item.offsets }

/** The value of a field as text for field selectors; '' if absent (rules.md 4.33). */
export function fieldOf(item: Item, field: string): string {
  if (field === 'metadata.name') return item.key.name
  if (field === 'metadata.namespace') return item.key.namespace
  let value: unknown = item.object
  for (const key of field.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return ''
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}
