import { type Encoded, encodeObject, type Offsets, withResourceVersion } from '../../framework/encode.ts'
import type { KubeObject } from '../../framework/object.ts'

// A stored value: format byte, four offsets (32 bit, little endian), canonical JSON without resourceVersion.
const format = 1
const header = 17
const closingBrace = 0x7d
const before = '"resourceVersion":"'
const behind = '",'

/** The bytes of an object as the store keeps them; its resourceVersion is left out: the commit's revision is it. */
export function encodeStored(object: KubeObject): Buffer {
  const { resourceVersion: _, ...metadata } = object.metadata
  const { bytes, offsets } = encodeObject({ ...object, metadata })
  const stored = Buffer.allocUnsafe(header + bytes.length)
  stored[0] = format
  stored.writeUInt32LE(offsets.metadata, 1)
  stored.writeUInt32LE(offsets.labels, 5)
  stored.writeUInt32LE(offsets.version, 9)
  stored.writeUInt32LE(offsets.end, 13)
  bytes.copy(stored, header)
  return stored
}

function offsetsIn(stored: Buffer): Offsets {
  if (stored[0] !== format) throw new Error(`a stored object has the unknown format ${stored[0]}`)
  const version = stored.readUInt32LE(9)
  return {
    metadata: stored.readUInt32LE(1),
    labels: stored.readUInt32LE(5),
    version,
    rest: version,
    end: stored.readUInt32LE(13),
  }
}

/** The encoded object inside stored bytes, not copied, without a resourceVersion. */
export const decodeStored = (stored: Buffer): Encoded => ({
  offsets: offsetsIn(stored),
  bytes: stored.subarray(header),
})

/** An encoded object that may lie somewhere in a larger slab; its offsets count from where it starts. */
export interface Place extends Encoded {
  readonly start?: number
  readonly length?: number
}

/** Makes room for objects in slabs of a fixed size, so that neither each of them costs an allocation nor one that lives
 * long keeps much more than itself in memory. */
export class Arena {
  readonly #size: number
  #slab = Buffer.alloc(0)
  #used = 0

  constructor(size: number) {
    this.#size = size
  }

  /** A stored object as it is presented at a revision. */
  present(stored: Buffer, revision: number): Place {
    const offsets = offsetsIn(stored)
    if (stored[header + offsets.rest] === closingBrace) return atRevision(decodeStored(stored), revision)
    const member = `${before}${revision}${behind}`
    const length = stored.length - header + member.length
    const start = this.#room(length)
    const slab = this.#slab
    stored.copy(slab, start, header, header + offsets.version)
    slab.write(member, start + offsets.version, 'latin1')
    stored.copy(slab, start + offsets.version + member.length, header + offsets.version)
    return { bytes: slab, start, length, offsets: shifted(offsets, member.length) }
  }

  #room(length: number): number {
    if (this.#used + length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(Math.max(this.#size, length))
      this.#used = 0
    }
    this.#used += length
    return this.#used - length
  }
}

const shifted = (offsets: Offsets, by: number): Offsets => ({
  ...offsets,
  rest: offsets.rest + by,
  end: offsets.end + by,
})

/** The same object at another revision. */
export function atRevision(encoded: Encoded, revision: number): Encoded {
  return withResourceVersion(encoded, String(revision))
}
