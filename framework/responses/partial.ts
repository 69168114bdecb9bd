import { encodedOf, type Item } from '../contract/item.ts'

/**
 * An item as PartialObjectMetadata, for list elements, rows and events (rules.md 1.29). The metadata is copied from the
 * canonical bytes without decoding.
 */
export function partialBytes(item: Item, version: string): Buffer {
  const { bytes, offsets } = encodedOf(item)
  const head = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`
  return Buffer.concat([Buffer.from(head), bytes.subarray(offsets.metadata - 1, offsets.end + 1), closing])
}

const closing = Buffer.from('}')

const openingBrace = 0x7b
const metadataKey = '"metadata":{'

/** An item without `apiVersion` and `kind`, as Go writes the items of typed lists (rules.md 4.2). */
export function untypedBytes(item: Item): Buffer {
  const { bytes, offsets } = encodedOf(item)
  const untyped = Buffer.from(bytes.subarray(offsets.metadata - metadataKey.length - 1))
  untyped[0] = openingBrace
  return untyped
}
