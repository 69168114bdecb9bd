import { status } from '@grpc/grpc-js'
import { JoinedRead } from '../joinedread.ts'
import type { EtcdConnection } from './connection.ts'
import { EtcdFailure } from './failures.ts'
import { EtcdCompacted, followKeys } from './following.ts'
import type { Layout } from './layout.ts'
import { decodeRange, type EtcdEvent, encodeRange } from './messages.ts'

/** Milliseconds of a read. */
const longest = 5_000

/** Every commit writes its id to the head: the history of the head tells which commits were made. */
export class CommitLog {
  readonly #connection: EtcdConnection
  readonly #head: Buffer
  readonly #reads: JoinedRead<ReadonlyMap<string, number>>
  /** What the calls that wait for the next read know. */
  #known: number[] = []

  constructor(connection: EtcdConnection, { head }: Layout) {
    this.#connection = connection
    this.#head = head
    this.#reads = new JoinedRead(() => this.#read(Math.min(...this.#known.splice(0))))
  }

  /**
   * The revision of the commit with an id; undefined: it has not been made. `known`: a revision before it. Throws `EtcdFailure` when
   * the history since then is incomplete.
   */
  async revisionOf(id: Buffer, known: number): Promise<number | undefined> {
    this.#known.push(known)
    return (await this.#reads.call()).get(id.toString('hex'))
  }

  /** The revisions of commits after `after`, by their ids. */
  async #read(after: number): Promise<ReadonlyMap<string, number>> {
    const newest = await this.#newest()
    const found = new Map<string, number>()
    if (newest <= after) return found
    for await (const events of this.#events(after)) {
      for (const { isDeletion, value } of events) {
        if (isDeletion) throw incomplete()
        found.set(value.value.toString('hex'), value.modified)
        if (value.modified >= newest) return found
      }
    }
    throw incomplete()
  }

  async *#events(after: number): AsyncGenerator<readonly EtcdEvent[]> {
    const range = [this.#head, Buffer.concat([this.#head, Buffer.alloc(1)])] as const
    const following = { range, after, resuming: () => Promise.resolve() }
    try {
      yield* followKeys(this.#connection, following, AbortSignal.timeout(longest))
    } catch (error) {
      throw error instanceof EtcdCompacted ? incomplete() : error
    }
  }

  /** Throws when the head is missing: deletions removed it while etcd was full. */
  async #newest(): Promise<number> {
    const request = encodeRange({ key: this.#head, keysOnly: true })
    const call = { path: '/etcdserverpb.KV/Range', request, decode: decodeRange }
    const [head] = (await this.#connection.call(call)).response.values
    if (head === undefined) throw incomplete()
    return head.modified
  }
}

const incomplete = (): EtcdFailure =>
  new EtcdFailure(
    status.DEADLINE_EXCEEDED,
    'the history that would tell whether the first attempt was made is incomplete',
  )
