import { type Encoded, encodeObject, withResourceVersion } from '../../framework/encode.ts'
import type { KubeObject } from '../../framework/object.ts'

// A stored value: format byte, four offsets (32 bit, little endian), canonical JSON without resourceVersion.
const format = 1
const header = 17
const closingBrace = 0x7d
const quote = Buffer.from('"resourceVersion":"')
const unquote = Buffer.from('",')

/** The bytes of an object as the store keeps them; its resourceVersion is left out: the commit's revision is it. */
export function encodeStored(object: KubeObject): Buffer {
  const { resourceVersion: _, ...metadata } = object.metadata
  const { bytes, offsets } = encodeObject({ ...object, metadata })
  const stored = Buffer.allocUnsafeSlow(header + bytes.length)
  stored[0] = format
  stored.writeUInt32LE(offsets.metadata, 1)
  stored.writeUInt32LE(offsets.labels, 5)
  stored.writeUInt32LE(offsets.version, 9)
  stored.writeUInt32LE(offsets.end, 13)
  bytes.copy(stored, header)
  return stored
}

/** The encoded object inside stored bytes, not copied, without a resourceVersion. */
export function decodeStored(stored: Buffer): Encoded {
  if (stored[0] !== format) throw new Error(`a stored object has the unknown format ${stored[0]}`)
  const version = stored.readUInt32LE(9)
  return {
    bytes: stored.subarray(header),
    offsets: {
      metadata: stored.readUInt32LE(1),
      labels: stored.readUInt32LE(5),
      version,
      rest: version,
      end: stored.readUInt32LE(13),
    },
  }
}

/** The same object at a revision, in memory of its own (not pooled: it may live long). */
export function atRevision(encoded: Encoded, revision: number): Encoded {
  const { bytes, offsets } = encoded
  if (bytes[offsets.rest] === closingBrace) return withResourceVersion(encoded, String(revision))
  const digits = String(revision)
  const length = quote.length + digits.length + unquote.length
  const by = length - (offsets.rest - offsets.version)
  const spliced = Buffer.allocUnsafeSlow(bytes.length + by)
  bytes.copy(spliced, 0, 0, offsets.version)
  quote.copy(spliced, offsets.version)
  spliced.write(digits, offsets.version + quote.length, 'latin1')
  unquote.copy(spliced, offsets.version + quote.length + digits.length)
  bytes.copy(spliced, offsets.version + length, offsets.rest)
  return { bytes: spliced, offsets: { ...offsets, rest: offsets.rest + by, end: offsets.end + by } }
}
