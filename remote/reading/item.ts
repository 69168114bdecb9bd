import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import { clusterAnnotation, type Item, metaOf, type ObjectMeta } from '../../framework/contract/item.ts'
import { parseJson } from '../../framework/json/json.ts'
import type { ClusterScope, KubeObject, Metadata, ObjectKey } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { decodedAtOnce, decodeObjectSteps } from '../../framework/wire/encodesteps.ts'
import { memberRange } from './scanner.ts'

/**
 * An object as the shard sent it: its bytes are forwarded, and its metadata is decoded only when a filter reads it.
 */
class SentItem implements Item {
  readonly bytes: Buffer
  readonly #cluster: ClusterScope
  #metadata: Metadata | undefined
  #object: KubeObject | undefined

  constructor(bytes: Buffer, cluster: ClusterScope, object?: KubeObject) {
    this.bytes = bytes
    this.#cluster = cluster
    this.#object = object
  }
  get key(): ObjectKey {
    const { namespace = '', name = '', annotations } = this.#read()
    return { cluster: annotations?.[clusterAnnotation] ?? this.#cluster, namespace, name }
  }
  get meta(): ObjectMeta {
    return metaOf(this.#read(), this.key)
  }
  get metadata(): Metadata {
    return this.#read()
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

/** Decodes only the metadata of an object. Throws `SyntaxError` for other bytes. */
export function metadataIn(bytes: Buffer): Metadata {
  const range = memberRange(bytes, 'metadata')
  return range === undefined ? {} : (parseJson(bytes.subarray(range.from, range.to)) as Metadata)
}

/** `cluster`: the logical cluster of objects without the annotation `kcp.io/cluster`. */
export const sentItem = (bytes: Buffer, cluster: ClusterScope): Item => new SentItem(bytes, cluster)

/** The item; a large object is decoded between other requests. Throws `SyntaxError` for other bytes. */
export async function decodedItem(item: Item): Promise<Item> {
  if (item.bytes.length <= decodedAtOnce) return item
  const object = await inTurns(decodeObjectSteps(item.bytes), new Pace())
  return new SentItem(item.bytes, item.key.cluster, object)
}
