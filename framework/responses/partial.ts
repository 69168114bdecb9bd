import { encodedOf, type Item } from '../contract/item.ts'

/**
 * An item as PartialObjectMetadata, for list elements, rows and events (chapter 40, rule 1.29). Metadata lies together
 * in canonical bytes, so nothing is decoded.
 */
export function partialBytes(item: Item, version: string): Buffer {
  const { bytes, offsets } = encodedOf(item)
  const head = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`
  return Buffer.concat([Buffer.from(head), bytes.subarray(offsets.metadata - 1, offsets.end + 1), closing])
}

const closing = Buffer.from('}')
