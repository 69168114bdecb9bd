/** One encoded field: its number, and its integer or bytes. */
export interface WireField {
  readonly number: number
  readonly value: bigint | Buffer
}

const unexpectedEnd = (): SyntaxError => new SyntaxError('proto: unexpected EOF')

/** The fields of a message in the order of the bytes. Throws `SyntaxError` for malformed messages. */
export function* wireFields(message: Buffer): Generator<WireField> {
  const reader = new WireReader(message)
  while (reader.hasMore) yield reader.next()
}

/** Bytes of integers that a number holds exactly while they are added up. */
const exactBytes = 7

/** Reads a message field by field. */
export class WireReader {
  readonly #message: Buffer
  #at = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  get hasMore(): boolean {
    return this.#at < this.#message.length
  }

  /** Throws `SyntaxError` for malformed fields. */
  next(): WireField {
    const tag = this.#number()
    return { number: tag >>> 3, value: this.#value(tag & 7) }
  }

  #value(type: number): bigint | Buffer {
    if (type === 0) return this.#integer()
    if (type === 1) return this.#bytes(8)
    if (type === 2) return this.#bytes(this.#number())
    if (type === 5) return this.#bytes(4)
    throw new SyntaxError(`proto: illegal wireType ${type}`)
  }

  #bytes(length: number): Buffer {
    if (length > this.#message.length - this.#at) throw unexpectedEnd()
    this.#at += length
    return this.#message.subarray(this.#at - length, this.#at)
  }

  /** Tags and lengths are short: BigInt would take most of the time of a message. */
  #number(): number {
    const start = this.#at
    let value = 0
    for (let scale = 1; this.#at < start + exactBytes; scale *= 128) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    this.#at = start
    return Number(this.#integer())
  }

  #integer(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new SyntaxError('proto: integer overflow')
  }

  #byte(): number {
    const byte = this.#message[this.#at++]
    if (byte === undefined) throw unexpectedEnd()
    return byte
  }
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
