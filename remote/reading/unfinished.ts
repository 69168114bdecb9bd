import { ResponseTooLarge } from '../../framework/net/failure.ts'

/** Bytes of an object or a row of a list, and of an event of a watch: shards store objects of 1.5 MiB. */
export const mostOfElement = 16 * 1024 * 1024

/** Bytes of a list besides its elements. */
export const mostAround = 4 * 1024 * 1024

const none = Buffer.alloc(0)

/** The beginning of a part of a response whose end has not arrived. */
export class Unfinished {
  readonly #what: string
  readonly #most: number
  #pieces: Buffer[] = []
  #length = 0

  /** `what` has at most `most` bytes. */
  constructor(what: string, most: number) {
    this.#what = what
    this.#most = most
  }

  get length(): number {
    return this.#length
  }

  /** Throws `ResponseTooLarge`. */
  push(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > this.#most) throw new ResponseTooLarge(this.#what, this.#most)
    if (piece.length > 0) this.#pieces.push(piece)
  }

  /** All bytes, with the last ones; nothing is left. */
  take(last: Buffer = none): Buffer {
    const [first] = this.#pieces
    if (first === undefined) return last
    const all =
      this.#pieces.length === 1 && last.length === 0 ? first : Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    this.#length = 0
    return all
  }
}
