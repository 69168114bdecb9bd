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
  replacementFor,
  writeReplaced,
} from '../wire/relabel.ts'

/**
 * The part of `metadata` that filters read. Kept beside the bytes, so that a filter never decodes the body. Members may
 * be computed when they are asked for: take what you need, and do not spread it.
 */
export interface ObjectMeta extends ObjectKey {
  readonly uid: string
  /** Decimal, no leading zeros (chapter 40, rule 3.28). */
  readonly resourceVersion: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** One stored object. Bytes are the truth; `meta` is what filters need; `object` is decoded on first use. */
export interface Item {
  readonly key: ObjectKey
  readonly meta: ObjectMeta
  /** The whole object as JSON on one line, without a trailing newline: what clients are sent. */
  readonly bytes: Buffer
  /** Where metadata lies in `bytes`, when they are canonical (`encode.ts`). */
  readonly offsets?: Offsets
  readonly object: KubeObject
  /** Writes `bytes` into `target` without making them; returns how many. `length`: at most so many. */
  readonly copy?: (target: Buffer, start: number) => number
  readonly length?: number
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'

/**
 * One change. `previous` is the state before it (absent for ADDED and BOOKMARK). A DELETED item is the last state at
 * the deletion's resourceVersion. A BOOKMARK item has only apiVersion, kind, metadata.resourceVersion and, at the end
 * of initial events, its annotation (chapter 40, rules 4.52–4.55).
 */
export interface ItemEvent {
  readonly type: EventType
  readonly item: Item
  readonly previous?: Item
}

/** Where the cluster of an object is written (chapter 20). */
export const clusterAnnotation = 'kcp.io/cluster'

/** On a copy: the shard that has the original; kcp's cache server marks its copies the same way. */
export const originAnnotation = 'kcp.io/shard'

/** Is this a copy of what another shard has? */
export const isCopied = ({ annotations }: Pick<ObjectMeta, 'annotations'>): boolean =>
  annotations[originAnnotation] !== undefined

/** The annotation of the bookmark that ends the initial events (chapter 40, rule 4.55). */
export const initialEventsEnd = 'k8s.io/initial-events-end'

/** Metadata in canonical bytes, read part by part when somebody asks. */
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
  constructor(encoded: Encoded, key: ObjectKey, meta: ObjectMeta | undefined) {
    this.key = key
    this.bytes = encoded.bytes
    this.offsets = encoded.offsets
    this.#meta = meta
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

/** An object that is encoded when somebody asks for bytes. */
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

/** An item with other labels or annotations. Sending it copies it once, from the old bytes to where it is sent from. */
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
  /** undefined when the item has to be encoded anew. */
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

/** At most so many bytes. */
export const lengthOf = (item: Item): number => item.length ?? item.bytes.length

/** What an item is copied from. */
const sourceOf = (item: Item): Pick<EncodedSource, 'copy'> =>
  item.copy === undefined ? item.bytes : (item as EncodedSource)

/** The metadata of a decoded object, as filters read it. */
export const metaOf = (metadata: Metadata, key: ObjectKey): ObjectMeta => ({
  ...key,
  uid: metadata.uid ?? '',
  resourceVersion: metadata.resourceVersion ?? '',
  labels: metadata.labels ?? {},
  annotations: metadata.annotations ?? {},
})

/** The key of a decoded object in `cluster`. */
export const keyOf = (object: KubeObject, cluster: ClusterName): ObjectKey => ({
  cluster,
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name ?? '',
})

/** An item from canonical bytes; nothing is decoded before somebody asks. Pass `meta` when it is known. */
export const itemFrom = (encoded: Encoded, key: ObjectKey, meta?: ObjectMeta): Item =>
  new EncodedItem(encoded, key, meta)

/** An item from a decoded object; it is encoded when somebody asks for its bytes. */
export const itemOf = (object: KubeObject, cluster: ClusterName): Item =>
  new ObjectItem(object, keyOf(object, cluster))

/** The item with other labels or annotations; what is absent stays. Nothing is encoded before somebody asks. */
export const relabeledItem = (item: Item, relabeling: Relabeling): Item => new RelabeledItem(item, relabeling)

/** An item from any JSON, such as another server's. The cluster is the annotation's, else `cluster`. Throws `SyntaxError`. */
export function decodeItem(bytes: Buffer, cluster: ClusterName = ''): Item {
  const object = decodeObject(bytes)
  return itemOf(object, object.metadata.annotations?.[clusterAnnotation] ?? cluster)
}

/** The canonical encoding of any item: its own bytes when they are canonical. */
export const encodedOf = (item: Item): Encoded =>
  item.offsets === undefined ? encodeObject(item.object) : { bytes: item.bytes, offsets: item.offsets }

/** A field of an object as field selectors compare it: its text, '' when it is absent (chapter 40, rule 4.33). */
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
