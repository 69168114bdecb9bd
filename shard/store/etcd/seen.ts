import type { EtcdConnection } from './connection.ts'
import { EpochEnded } from './epochended.ts'
import { failureOf, isCompacted } from './failures.ts'
import type { Layout } from './layout.ts'
import { decodeRange, encodeRange } from './messages.ts'

/** The newest commit that a server knew. It is kept outside etcd, because a restored etcd has forgotten it. */
export interface Seen {
  /** Identifies the installation. */
  readonly installation: string
  /** The offset of its epoch. */
  readonly offset: number
  /** The revision of etcd. */
  readonly revision: number
  /** Identifies the commit at that revision. */
  readonly id: string
}

/** Where a server keeps what it has seen. */
export interface SeenPlace {
  read(): Promise<Seen | undefined>
  write(seen: Seen): Promise<void>
}

/** The installation and the epoch that a server opens. */
interface Epoch {
  readonly uid: string
  readonly offset: number
}

/** Whether etcd has lost a commit that the server knew: it was restored from a snapshot. `newest`: the revision of etcd. */
export async function hasLost(
  { connection, layout }: { readonly connection: EtcdConnection; readonly layout: Layout },
  found: Epoch,
  seen: Seen | undefined,
  newest: number,
): Promise<boolean> {
  if (seen?.installation !== found.uid || seen.offset < found.offset) return false
  if (seen.offset > found.offset || seen.revision > newest) return true
  const id = await idAt(connection, layout, seen.revision)
  return id !== undefined && id !== seen.id
}

/** Identifies the newest commit at a revision; undefined when its history is compacted. */
async function idAt(
  connection: EtcdConnection,
  { head: key }: Layout,
  revision: number,
): Promise<string | undefined> {
  const request = encodeRange({ key, revision })
  try {
    const { response } = await connection.call({
      path: '/etcdserverpb.KV/Range',
      request,
      decode: decodeRange,
    })
    return response.values[0]?.value.toString('hex') ?? ''
  } catch (error) {
    if (isCompacted(failureOf(error))) return undefined
    throw error
  }
}

/** Milliseconds between two writes to the place. */
const pause = 1_000

/** A commit in the history of etcd. */
export interface SeenCommit {
  /** The revision of etcd. */
  readonly modified: number
  /** Empty when etcd was full, so that the commit could not write it. */
  readonly id: string
}

interface SeenLogOptions {
  readonly installation: Epoch
  readonly place?: SeenPlace | undefined
}

/** The newest commit that a server has made or read; kept in its place once a second. */
export class SeenLog {
  readonly #options: SeenLogOptions
  readonly #timer: NodeJS.Timeout | undefined
  #newest: Seen | undefined
  #kept = 0

  constructor(options: SeenLogOptions) {
    this.#options = options
    // A file that cannot be written now is written later.
    const keep = () => void this.keep().catch(() => undefined)
    if (options.place) this.#timer = setInterval(keep, pause).unref()
  }

  get newest(): Seen | undefined {
    return this.#newest
  }

  /** The revision of the newest commit; 0: none is known. */
  get revision(): number {
    return this.#newest?.revision ?? 0
  }

  /** Throws `EpochEnded` when etcd had another commit at the same revision. */
  note({ modified: revision, id }: SeenCommit): void {
    if (revision === this.#newest?.revision && id !== this.#newest.id) throw new EpochEnded()
    const { uid: installation, offset } = this.#options.installation
    if (revision > this.revision) this.#newest = { installation, offset, revision, id }
  }

  async keep(): Promise<void> {
    const { place } = this.#options
    const newest = this.#newest
    if (place === undefined || newest === undefined || newest.revision === this.#kept) return
    await place.write(newest)
    this.#kept = newest.revision
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.keep().catch(() => undefined)
  }
}
