import { varint } from './wire.ts'

const initialSize = 512
const bytesOfStep = 4 * 1024
const continued = 0x80

/**
 * Writes a message from its end to its start, as the generated code of Go does (`MarshalToSizedBuffer`): the length of
 * a nested message is known before it has to be written, so nothing is copied twice.
 */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(initialSize)
  #start = initialSize
  #stepped = 0

  /** The number of bytes so far. */
  get length(): number {
    return this.#bytes.length - this.#start
  }

  /** The message. The writer must not be used afterwards. */
  end(): Buffer {
    return this.#bytes.subarray(this.#start)
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#start)
  }

  /** In UTF-8. */
  text(text: string): void {
    this.#reserve(Buffer.byteLength(text))
    this.#bytes.write(text, this.#start)
  }

  double(value: number): void {
    this.#reserve(8)
    this.#bytes.writeDoubleLE(value, this.#start)
  }

  /** Seven bits for each byte, the lowest first; negative integers take ten bytes. */
  varint(value: number): void {
    if (value < 0 || !Number.isSafeInteger(value)) {
      this.bytes(varint(BigInt.asUintN(64, BigInt(value))))
      return
    }
    let size = 1
    for (let rest = value; rest >= continued; rest = Math.floor(rest / continued)) size++
    this.#reserve(size)
    let rest = value
    for (let at = this.#start; at < this.#start + size; at++) {
      this.#bytes[at] = (rest % continued) | (at === this.#start + size - 1 ? 0 : continued)
      rest = Math.floor(rest / continued)
    }
  }

  tag(number: number, wireType: number): void {
    this.varint((number << 3) | wireType)
  }

  /** What `write` writes, with its length, as the field `number`. */
  delimited(number: number, write: () => void): void {
    const before = this.length
    write()
    this.delimit(number, before)
  }

  /** What was written since the length was `before`, with its length, as the field `number`. */
  delimit(number: number, before: number): void {
    this.varint(this.length - before)
    this.tag(number, 2)
  }

  /** Whether some kilobytes were written since it was true. */
  isStepDone(): boolean {
    if (this.length - this.#stepped < bytesOfStep) return false
    this.#stepped = this.length
    return true
  }

  #reserve(size: number): void {
    if (size > this.#start) this.#grow(size)
    this.#start -= size
  }

  #grow(size: number): void {
    const { length } = this
    const larger = Buffer.allocUnsafe(2 * (this.#bytes.length + size))
    this.#bytes.copy(larger, larger.length - length, this.#start)
    this.#start = larger.length - length
    this.#bytes = larger
  }
}
