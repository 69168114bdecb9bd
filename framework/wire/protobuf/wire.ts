/** One encoded field: its number, and its integer or bytes. */
export interface WireField {
  readonly number: number
  readonly value: bigint | Buffer
}

const unexpectedEnd = (): SyntaxError => new SyntaxError('proto: unexpected EOF')

/** The fields of a message in the order of the bytes. Throws `SyntaxError` for malformed messages. */
export function* wireFields(message: Buffer): Generator<WireField> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++]
      if (byte === undefined) throw unexpectedEnd()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new SyntaxError('proto: integer overflow')
  }
  const bytes = (length: number): Buffer => {
    if (length > message.length - at) throw unexpectedEnd()
    at += length
    return message.subarray(at - length, at)
  }
  while (at < message.length) {
    const tag = Number(varint())
    yield { number: tag >>> 3, value: wireValue(tag & 7, varint, bytes) }
  }
}

function wireValue(type: number, varint: () => bigint, bytes: (length: number) => Buffer): bigint | Buffer {
  if (type === 0) return varint()
  if (type === 1) return bytes(8)
  if (type === 2) return bytes(Number(varint()))
  if (type === 5) return bytes(4)
  throw new SyntaxError(`proto: illegal wireType ${type}`)
}

/** Seven bits per byte, the lowest first. */
export function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}

/** An integer; negative ones take ten bytes. */
export const varintField = (number: number, value: bigint): Buffer =>
  Buffer.concat([varint(BigInt(number << 3)), varint(BigInt.asUintN(64, value))])

/** A string, bytes or a message. */
export const lengthDelimited = (number: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes])
