import type { Metadata } from '../meta/object.ts'
import {
  annotationsMember,
  type Encoded,
  labelsMember,
  type Offsets,
  reencode,
  type Texts,
} from './encode.ts'

/** Labels and annotations that replace those of an object; absent ones are kept. */
export interface Relabeling {
  readonly labels?: Texts
  readonly annotations?: Texts
}

export const relabeledMetadata = (metadata: Metadata, { labels, annotations }: Relabeling): Metadata => ({
  ...metadata,
  ...(labels && { labels }),
  ...(annotations && { annotations }),
})

/** The text that replaces the bytes [from, to) of an encoded object. */
export interface Replacement {
  readonly from: number
  readonly to: number
  readonly text: string
  /** Characters of `text` that are annotations. */
  readonly annotations: number
}

/** An encoded object that can be copied without decoding. */
export interface EncodedSource {
  readonly offsets: Offsets
  /** In bytes. */
  readonly length: number
  copy(target: Buffer, start: number): number
}

const withComma = (member: string): string => (member === '' ? '' : `${member},`)

/** undefined if no member follows labels in metadata, which no stored object has: the commas would not fit. */
export function replacementFor(
  offsets: Offsets,
  { annotations, labels }: Relabeling,
): Replacement | undefined {
  if (offsets.version === offsets.end) return undefined
  const first = annotations === undefined ? '' : withComma(annotationsMember(annotations))
  const second = labels === undefined ? '' : withComma(labelsMember(labels))
  return {
    from: annotations === undefined ? offsets.labels : offsets.metadata,
    to: labels === undefined ? offsets.labels : offsets.version,
    text: first + second,
    annotations: first.length,
  }
}

/** Maximum number of bytes that `writeReplaced` writes. */
export const longestReplaced = ({ length }: Pick<EncodedSource, 'length'>, { text }: Replacement): number =>
  length + 3 * text.length

/**
 * Writes the object with the replacement into `target`, which has space for `longestReplaced` bytes; returns the number
 * of bytes.
 */
export function writeReplaced(
  source: Pick<EncodedSource, 'copy'>,
  { from, to, text }: Replacement,
  target: Buffer,
  start: number,
): number {
  // One copy, to the final position of the end; the short part in front is moved within the target.
  const size = Buffer.byteLength(text)
  const by = Math.max(0, size - (to - from))
  const length = source.copy(target, start + by)
  target.copyWithin(start, start + by, start + by + from)
  target.write(text, start + from)
  const shorter = to - from + by - size
  if (shorter > 0) target.copyWithin(start + from + size, start + to, start + length)
  return length + by - shorter
}

/** The same object with other labels or annotations; the bytes after them are copied. */
export function relabel(encoded: Encoded, relabeling: Relabeling): Encoded {
  const { bytes, offsets } = encoded
  const replacement = replacementFor(offsets, relabeling)
  if (replacement === undefined) return reencode(encoded, relabeling)
  const target = Buffer.allocUnsafe(longestReplaced(bytes, replacement))
  const length = writeReplaced(bytes, replacement, target, 0)
  return { bytes: target.subarray(0, length), offsets: movedOffsets(encoded, replacement, length) }
}

function movedOffsets({ bytes, offsets }: Encoded, replacement: Replacement, length: number): Offsets {
  const by = length - bytes.length
  const { metadata, version, rest, end } = offsets
  const annotations = Buffer.byteLength(replacement.text.slice(0, replacement.annotations))
  const labels = replacement.from === metadata ? metadata + annotations : offsets.labels
  return { metadata, labels, version: version + by, rest: rest + by, end: end + by }
}
