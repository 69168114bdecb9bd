import { type PresentedMeta, SlabItem } from '../../framework/cache/page.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { KubeObject, Metadata, ObjectKey } from '../../framework/meta/object.ts'
import { decodeObject, type Texts } from '../../framework/wire/encode.ts'
import { metadataIn } from '../reading/item.ts'
import { memberRange } from '../reading/scanner.ts'

/** An object in a copy. */
export class CopiedItem extends SlabItem {
  constructor(key: ObjectKey, bytes: Buffer, presented: PresentedMeta) {
    super(key, { slab: bytes, start: 0, length: bytes.length }, presented)
  }

  /** Copies the bytes of the item, so that the buffer of the response can be freed. */
  static of({ key, meta, bytes }: Item): CopiedItem {
    const { resourceVersion, labels } = meta
    return new CopiedItem(key, Buffer.from(bytes), { revision: Number(resourceVersion), labels })
  }

  get uid(): string {
    return metadataIn(this.bytes).uid ?? ''
  }
  get annotations(): Texts {
    return metadataIn(this.bytes).annotations ?? {}
  }
  get metadata(): Metadata {
    return metadataIn(this.bytes)
  }
  get object(): KubeObject {
    return decodeObject(this.bytes)
  }

  at(revision: number): CopiedItem {
    return new CopiedItem(this, presentedAt(this.bytes, revision), { revision, labels: this.labels })
  }
}

/** The object with another resourceVersion; all other bytes are copied. */
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
