import type { ServerResponse } from 'node:http'

/** Bytes. A larger chunk is written at once. */
const large = 4 * 1024

/** Chunks of one turn of the event loop: reading them takes less than a millisecond. */
const mostInTurn = 1_000

/** What can be held up while the client reads. */
interface Source {
  pause(): void
  resume(): void
}

type Writable = Pick<ServerResponse, 'write' | 'end' | 'once'>

/**
 * Writes the body of a response whose chunks come from another server, with back-pressure. Small chunks that arrive together are
 * joined, because a server can send ten thousand in one packet, and each write takes as long as that of a large one.
 */
export class JoinedWrites {
  readonly #response: Writable
  readonly #source: Source
  #arrived: Buffer[] = []

  constructor(response: Writable, source: Source) {
    this.#response = response
    this.#source = source
  }

  write(chunk: Buffer): void {
    if (this.#arrived.length === 0 && chunk.length >= large) return void this.#send(chunk)
    const count = this.#arrived.push(chunk)
    // Not in the next tick: each record of TLS has its own.
    if (count === 1) setImmediate(() => this.#flush())
    if (count === mostInTurn) this.#source.pause()
  }

  /** Ends the response behind the chunks that were not written yet, the last of which may be given. */
  end(last?: Buffer): void {
    if (last !== undefined) this.#arrived.push(last)
    const rest = this.#taken()
    if (rest === undefined) this.#response.end()
    else this.#response.end(rest)
  }

  /** Forgets the chunks that were not written yet. */
  drop(): void {
    this.#arrived = []
  }

  #flush(): void {
    const isPaused = this.#arrived.length >= mostInTurn
    const joined = this.#taken()
    if (joined !== undefined && this.#send(joined) && isPaused) this.#source.resume()
  }

  /** Whether the response takes more. */
  #send(chunk: Buffer): boolean {
    if (this.#response.write(chunk)) return true
    this.#source.pause()
    this.#response.once('drain', () => this.#source.resume())
    return false
  }

  #taken(): Buffer | undefined {
    const arrived = this.#arrived
    this.#arrived = []
    return arrived.length > 1 ? Buffer.concat(arrived) : arrived[0]
  }
}
