import { encodedOf, type Item, lengthOf } from '../contract/item.ts'
import { type Encoded, encodeObject } from '../wire/encode.ts'

/**
 * An item as PartialObjectMetadata, for list elements, rows and events (rules.md 1.29). The metadata is copied from the
 * canonical bytes without decoding; where there are none, only the metadata is encoded.
 */
export function partialBytes(item: Item, version: string): Buffer {
  const { bytes, offsets } = metadataOf(item)
  const head = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`
  return Buffer.concat([Buffer.from(head), bytes.subarray(offsets.metadata - 1, offsets.end + 1), closing])
}

/** The canonical encoding of an object with the metadata of the item. */
function metadataOf(item: Item): Encoded {
  const { metadata } = item
  return metadata === undefined ? encodedOf(item) : encodeObject({ apiVersion: '', kind: '', metadata })
}

const closing = Buffer.from('}')

const openingBrace = 0x7b
const metadataKey = '"metadata":{'

/** An item without `apiVersion` and `kind`, as Go writes the items of typed lists (rules.md 4.2). */
export function untypedBytes(item: Item): Buffer {
  const untyped = Buffer.allocUnsafe(lengthOf(item))
  return untyped.subarray(0, copyUntyped(item, untyped, 0))
}

/** Writes an item without `apiVersion` and `kind` to a buffer, and returns the number of bytes. */
export function copyUntyped(item: Item, target: Buffer, start: number): number {
  const { bytes, offsets } = encodedOf(item)
  target[start] = openingBrace
  return 1 + bytes.copy(target, start + 1, offsets.metadata - metadataKey.length)
}
