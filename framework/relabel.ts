import {
  annotationsMember,
  type Encoded,
  labelsMember,
  type Offsets,
  reencode,
  type Texts,
} from './encode.ts'

/** Labels and annotations that replace an object's own; what is absent stays. */
export interface Relabeling {
  readonly labels?: Texts
  readonly annotations?: Texts
}

/** What stands in the place of the bytes [from, to) of an encoded object. */
export interface Replacement {
  readonly from: number
  readonly to: number
  readonly text: string
  /** How much of `text` is annotations, in characters. */
  readonly annotations: number
}

const closingBrace = 0x7d
const withComma = (member: string): string => (member === '' ? '' : `${member},`)

/** undefined when nothing follows labels in metadata, which no stored object has: then the commas would not fit. */
export function replacementFor(
  { bytes, offsets }: Encoded,
  { annotations, labels }: Relabeling,
): Replacement | undefined {
  if (bytes[offsets.version] === closingBrace) return undefined
  const first = annotations === undefined ? '' : withComma(annotationsMember(annotations))
  const second = labels === undefined ? '' : withComma(labelsMember(labels))
  return {
    from: annotations === undefined ? offsets.labels : offsets.metadata,
    to: labels === undefined ? offsets.labels : offsets.version,
    text: first + second,
    annotations: first.length,
  }
}

/** At most so many bytes are written by `writeReplaced`. */
export const longestReplaced = ({ bytes }: Encoded, { text }: Replacement): number =>
  bytes.length + 3 * text.length

/** Writes the object with the replacement into `target`, which has `longestReplaced` bytes left; returns how many. */
export function writeReplaced(
  { bytes }: Encoded,
  { from, to, text }: Replacement,
  target: Buffer,
  start: number,
): number {
  const by = Buffer.byteLength(text) - (to - from)
  if (by < 0) {
    bytes.copy(target, start, 0, from)
    bytes.copy(target, start + to + by, to)
  } else {
    // One whole copy and a small move within the target cost half of two partial copies.
    bytes.copy(target, start + by)
    target.copyWithin(start, start + by, start + by + from)
  }
  target.write(text, start + from)
  return bytes.length + by
}

/** The same object with other labels or annotations; everything behind them is copied as bytes. */
export function relabel(encoded: Encoded, relabeling: Relabeling): Encoded {
  const replacement = replacementFor(encoded, relabeling)
  if (replacement === undefined) return reencode(encoded, relabeling)
  const target = Buffer.allocUnsafe(longestReplaced(encoded, replacement))
  const length = writeReplaced(encoded, replacement, target, 0)
  return { bytes: target.subarray(0, length), offsets: movedOffsets(encoded, replacement, length) }
}

function movedOffsets({ bytes, offsets }: Encoded, replacement: Replacement, length: number): Offsets {
  const by = length - bytes.length
  const { metadata, version, rest, end } = offsets
  const annotations = Buffer.byteLength(replacement.text.slice(0, replacement.annotations))
  const labels = replacement.from === metadata ? metadata + annotations : offsets.labels
  return { metadata, labels, version: version + by, rest: rest + by, end: end + by }
}
