import { tooManyRequests } from '../../framework/meta/errors.ts'

/** The reader of a document. */
export interface DocumentReader {
  /** The account of the user. */
  readonly account: string
  /** Aborted when its response is complete. */
  readonly signal: AbortSignal
}

/** Bytes of documents of all users, and of one of them. */
const most = { all: 512 * 1024 * 1024, each: 192 * 1024 * 1024 }

/** Counts the bytes of documents that are in memory until their readers have them. */
export class DocumentMemory {
  readonly #most: typeof most
  readonly #byAccount = new Map<string, number>()
  #bytes = 0

  constructor(limits = most) {
    this.#most = limits
  }

  /**
   * A function that counts bytes until the response of the reader is complete. It throws 429 when there are too many, and the reason of
   * the end after it.
   */
  counterFor({ account, signal }: DocumentReader): (bytes: number) => void {
    let held = 0
    signal.addEventListener('abort', () => this.#add(account, -held), { once: true })
    return bytes => {
      signal.throwIfAborted()
      const own = (this.#byAccount.get(account) ?? 0) + bytes
      if (own > this.#most.each || this.#bytes + bytes > this.#most.all)
        throw tooManyRequests('Too many documents are being read, please try again later.', 1)
      held += bytes
      this.#add(account, bytes)
    }
  }

  #add(account: string, bytes: number): void {
    this.#bytes += bytes
    const own = (this.#byAccount.get(account) ?? 0) + bytes
    if (own === 0) this.#byAccount.delete(account)
    else this.#byAccount.set(account, own)
  }
}
