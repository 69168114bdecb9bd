import { type CacheItem, idOf } from '../../../framework/cache/item.ts'
import { decodeObject } from '../../../framework/encoding/encode.ts'
import type { Item, ObjectMeta } from '../../../framework/item.ts'
import type { KubeObject, ObjectKey } from '../../../framework/object.ts'
import { metadataIn } from '../item.ts'
import { memberRange } from '../scanner.ts'

type Texts = Readonly<Record<string, string>>

/** What an item needs besides its bytes. */
interface ItemState {
  readonly revision: number
  readonly labels: Texts
}

/** An object as the shard has sent it, kept: what lists and watches select by, and a place in a slab. */
export class CopiedItem implements CacheItem, ObjectMeta {
  readonly id: string
  readonly cluster: string
  readonly namespace: string
  readonly revision: number
  readonly labels: Texts
  readonly length: number
  #slab: Buffer
  #start = 0

  constructor(key: ObjectKey, bytes: Buffer, { revision, labels }: ItemState) {
    this.id = idOf(key)
    this.cluster = key.cluster
    this.namespace = key.namespace
    this.revision = revision
    this.labels = labels
    this.length = bytes.length
    this.#slab = bytes
  }

  /** What has come over the wire, without the rest of the piece that it came in. */
  static of({ key, meta, bytes }: Item): CopiedItem {
    const { resourceVersion, labels } = meta
    return new CopiedItem(key, Buffer.from(bytes), { revision: Number(resourceVersion), labels })
  }

  get name(): string {
    return this.id.slice(this.cluster.length + this.namespace.length + 2)
  }
  get key(): ObjectKey {
    return { cluster: this.cluster, namespace: this.namespace, name: this.name }
  }
  get meta(): ObjectMeta {
    return this
  }
  get resourceVersion(): string {
    return String(this.revision)
  }
  get uid(): string {
    return metadataIn(this.bytes).uid ?? ''
  }
  get annotations(): Texts {
    return metadataIn(this.bytes).annotations ?? {}
  }
  get bytes(): Buffer {
    return this.#slab.subarray(this.#start, this.#start + this.length)
  }
  get object(): KubeObject {
    return decodeObject(this.bytes)
  }

  copy(target: Buffer, start: number): number {
    return this.#slab.copy(target, start, this.#start, this.#start + this.length)
  }

  move(slab: Buffer, start: number): void {
    this.copy(slab, start)
    this.#slab = slab
    this.#start = start
  }

  at(revision: number): CopiedItem {
    return new CopiedItem(this, presentedAt(this.bytes, revision), { revision, labels: this.labels })
  }
}

/** The object at another version; all other bytes are copied. */
function presentedAt(bytes: Buffer, revision: number): Buffer {
  const { from = 0, to = 0 } = memberRange(bytes, 'metadata') ?? {}
  const version = memberRange(bytes.subarray(from, to), 'resourceVersion')
  if (version === undefined) return bytes
  return Buffer.concat([
    bytes.subarray(0, from + version.from),
    Buffer.from(`"${revision}"`),
    bytes.subarray(from + version.to),
  ])
}
