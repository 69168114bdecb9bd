import { turn } from './streams.ts'

/** Bytes of a body from which on working at it takes longer than answering many small requests. */
const large = 128 * 1024

/**
 * Whoever has a large body waits for a turn: one of them is worked at between two looks at what else has come, however many
 * have come together.
 */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** The body, when it may be worked at: a small one at once. */
  async of(body: Buffer): Promise<Buffer> {
    if (body.length < large) return body
    this.#last = this.#last.then(turn)
    await this.#last
    return body
  }
}
