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
