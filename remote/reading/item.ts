import { clusterAnnotation, type Item, metaOf, type ObjectMeta } from '../../framework/contract/item.ts'
import type { ClusterScope, KubeObject, Metadata, ObjectKey } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { memberRange } from './scanner.ts'

/** An object as a shard has sent it: its bytes are passed on, and its metadata is read when a filter asks. */
class SentItem implements Item {
  readonly bytes: Buffer
  readonly #cluster: ClusterScope
  #metadata: Metadata | undefined
  #object: KubeObject | undefined

  constructor(bytes: Buffer, cluster: ClusterScope) {
    this.bytes = bytes
    this.#cluster = cluster
  }
  get key(): ObjectKey {
    const { namespace = '', name = '', annotations } = this.#read()
    return { cluster: annotations?.[clusterAnnotation] ?? this.#cluster, namespace, name }
  }
  get meta(): ObjectMeta {
    return metaOf(this.#read(), this.key)
  }
  get object(): KubeObject {
    this.#object ??= decodeObject(this.bytes)
    return this.#object
  }
  #read(): Metadata {
    this.#metadata ??= this.#object?.metadata ?? metadataIn(this.bytes)
    return this.#metadata
  }
}

/** The metadata of an object, and nothing else, decoded. Throws `SyntaxError` for what is no object. */
export function metadataIn(bytes: Buffer): Metadata {
  const range = memberRange(bytes, 'metadata')
  return range === undefined ? {} : (JSON.parse(bytes.toString('utf8', range.from, range.to)) as Metadata)
}

/** `cluster`: where the object is unless it says so itself. */
export const sentItem = (bytes: Buffer, cluster: ClusterScope): Item => new SentItem(bytes, cluster)
