/** The subset of DER (X.690) that certificates need. A value is encoded as tag, length and contents. */

/** Encodes a value with this tag; its contents are the concatenated parts. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const contents = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(contents.length)]), contents])
}

function lengthOf(length: number): readonly number[] {
  if (length < 0x80) return [length]
  const digits: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff)
  return [0x80 | digits.length, ...digits]
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts)
export const octetString = (bytes: Uint8Array): Buffer => der(0x04, bytes)
/** `unused`: number of unused bits at the end. */
export const bitString = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.of(unused), bytes)
export const utf8String = (text: string): Buffer => der(0x0c, Buffer.from(text))
export const truth = Buffer.of(0x01, 0x01, 0xff)

/** A non-negative integer, most significant byte first. */
export const integer = (bytes: Uint8Array): Buffer => {
  const first = bytes.findIndex(byte => byte !== 0)
  const digits = first < 0 ? Buffer.of(0) : bytes.subarray(first)
  return (digits[0] ?? 0) < 0x80 ? der(0x02, digits) : der(0x02, Buffer.of(0), digits)
}

/** `1.2.840.10045.4.3.2`. */
export function objectIdentifier(dotted: string): Buffer {
  const [root = 0, child = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([root * 40 + child, ...rest.flatMap(inBase128)]))
}

function inBase128(arc: number): readonly number[] {
  const digits = [arc & 0x7f]
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}

/** UTCTime, and GeneralizedTime from 2050 on (RFC 5280, section 4.1.2.5). */
export function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}

/** The elements of a constructed value. */
export function partsOf(value: Uint8Array): readonly Buffer[] {
  const contents = contentsOf(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
  const parts: Buffer[] = []
  for (let at = 0; at < contents.length; ) {
    const { end } = boundsOf(contents, at)
    parts.push(contents.subarray(at, end))
    at = end
  }
  return parts
}

/** The contents of a value, without tag and length. */
export function contentsOf(value: Buffer): Buffer {
  const { start, end } = boundsOf(value, 0)
  return value.subarray(start, end)
}

function boundsOf(bytes: Buffer, at: number): { start: number; end: number } {
  const first = bytes[at + 1] ?? 0
  if (first < 0x80) return { start: at + 2, end: at + 2 + first }
  const size = first & 0x7f
  const start = at + 2 + size
  return { start, end: start + bytes.readUIntBE(at + 2, size) }
}
