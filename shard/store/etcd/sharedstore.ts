import { JoinedRead } from '../joinedread.ts'
import { pagesOf } from '../pages.ts'
import {
  Compacted,
  intact,
  type Store,
  type StoreChange,
  type StoreCondition,
  type StoredValue,
  StoreError,
  type StoreEvent,
} from '../store.ts'
import { commitTo } from './commit.ts'
import { CommitChain, storeEvent } from './commitchain.ts'
import { EpochEnded } from './epochended.ts'
import { EtcdFailure, failureOf, isCompacted, readError, writeError } from './failures.ts'
import { EtcdCompacted, followKeys } from './following.ts'
import { type EtcdTarget, headOf } from './head.ts'
import { HistoryMarks } from './historymarks.ts'
import { type EtcdInstallation, readInstallation } from './installation.ts'
import { storedValue } from './layout.ts'
import {
  decodeNothing,
  decodeRange,
  type EtcdEvent,
  encodeCompaction,
  encodeRange,
  type RangeRequest,
  type RangeResponse,
} from './messages.ts'
import { hasLost } from './seen.ts'

/** The state of etcd when the store was opened, in revisions of etcd. */
export interface SharedState {
  readonly installation: EtcdInstallation
  readonly revision: number
  readonly compacted: number
  /** Milliseconds; 0: never. */
  readonly compactEvery: number
  readonly mostHistory?: number | undefined
}

/** Implements `Store` over etcd: its revisions are those of etcd, plus the offset of the epoch. */
export class SharedStore implements Store {
  readonly isShared = true
  /** Identifies the installation below the prefix. */
  readonly installation: string
  readonly failed: Promise<Error>
  #fail: (error: Error) => void = () => undefined
  readonly #target: EtcdTarget
  readonly #epoch: EtcdInstallation
  readonly #closing = new AbortController()
  readonly #heads: JoinedRead<number>
  readonly #writes = new Set<Promise<unknown>>()
  readonly #timer: NodeJS.Timeout | undefined
  #revision: number
  #compacted: number
  /** The revision at the last look of the timer. */
  #earlier: number
  readonly #marks: HistoryMarks

  constructor(target: EtcdTarget, state: SharedState) {
    const { installation, revision, compacted, compactEvery } = state
    this.#marks = new HistoryMarks(state.mostHistory)
    this.installation = installation.uid
    this.failed = new Promise(resolve => {
      this.#fail = resolve
    })
    this.#target = target
    this.#epoch = installation
    this.#revision = revision + target.offset
    this.#compacted = compacted + target.offset
    this.#earlier = this.#compacted
    this.#heads = new JoinedRead(() => this.#readHead())
    if (compactEvery > 0) this.#timer = setInterval(() => void this.#tidy(), compactEvery).unref()
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#compacted
  }

  latest(): Promise<number> {
    return this.#heads.call()
  }

  async get(key: string): Promise<StoredValue | undefined> {
    for (;;) {
      const { layout, offset } = this.#target
      const revision = this.#revision
      try {
        const { values } = await this.#range({ key: layout.keyOf(key), revision: revision - offset })
        const [found] = values
        return intact(found && storedValue(layout, found, offset))
      } catch (error) {
        if (!(error instanceof Compacted)) throw error
        await this.latest()
        if (this.#revision === revision) throw error
      }
    }
  }

  range(
    from: string,
    to: string,
    options: { limit?: number; revision?: number } = {},
  ): AsyncGenerator<readonly StoredValue[]> {
    const { layout, offset } = this.#target
    const revision = options.revision ?? this.#revision
    const end = layout.keyOf(to)
    return pagesOf(layout.keyOf(from), options, async (key, limit) => {
      if (revision < this.#compacted) throw new Compacted(this.#compacted)
      const { values, more } = await this.#range({ key, end, limit, revision: revision - offset })
      return {
        values: values.map(value => storedValue(layout, value, offset)),
        next: more ? behind(values.at(-1)?.key) : undefined,
      }
    })
  }

  async commit(changes: readonly StoreChange[], conditions: readonly StoreCondition[] = []): Promise<number> {
    if (this.#closing.signal.aborted) throw new StoreError('the store is closed')
    const known = this.#revision - this.#target.offset
    const writing = commitTo(this.#target, { changes, conditions }, known)
    this.#writes.add(writing)
    try {
      return this.#seen((await writing) ?? 0)
    } catch (error) {
      throw this.#writeFailure(error)
    } finally {
      this.#writes.delete(writing)
    }
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<readonly StoreEvent[]> {
    const { connection, layout, offset } = this.#target
    if (after < this.#compacted) throw new Compacted(this.#compacted)
    const chain = new CommitChain(this.#target, after - offset)
    /** Up to which a compaction means that the watch begins too early. */
    let known = Number.POSITIVE_INFINITY
    const begin = this.#revision
    const following = {
      range: layout.history,
      after: after - offset,
      resuming: (revision: number) => {
        known = 0
        return this.#checkEpoch(revision)
      },
    }
    const either = AbortSignal.any([signal, this.#closing.signal])
    try {
      for await (const watched of followKeys(connection, following, either)) {
        known = Math.min(known, begin)
        const changed = chain.take(watched)
        const events = changed.map(event => storeEvent(this.#target, event))
        const newest = watched.at(-1)?.value.modified ?? 0
        this.#seen(newest)
        this.#limit(newest, changed)
        const wanted = prefix === '' ? events : events.filter(({ key }) => key.startsWith(prefix))
        if (wanted.length > 0) yield wanted
      }
    } catch (error) {
      throw this.#watchError(error, known)
    }
  }

  async compact(revision: number): Promise<void> {
    const upTo = Math.min(revision, this.#revision)
    if (upTo <= this.#compacted || this.#closing.signal.aborted) return
    const { connection, offset } = this.#target
    const request = encodeCompaction(upTo - offset)
    try {
      await connection.call({ path: '/etcdserverpb.KV/Compact', request, decode: decodeNothing })
    } catch (error) {
      const failure = failureOf(error)
      if (!isCompacted(failure)) throw writeError(failure)
    }
    this.#compacted = Math.max(this.#compacted, upTo)
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    clearInterval(this.#timer)
    this.#closing.abort()
    await Promise.allSettled(this.#writes)
    await this.#target.seen.close()
    this.#target.connection.close()
  }

  /** Notes a revision of etcd; returns the newest revision of the store when it is 0, and otherwise the same of the store. */
  #seen(revision: number): number {
    if (revision === 0) return this.#revision
    const own = revision + this.#target.offset
    this.#revision = Math.max(this.#revision, own)
    return own
  }

  /** The head is missing while etcd is full: then only deletions make revisions. */
  async #readHead(): Promise<number> {
    try {
      const { modified, at } = await headOf(this.#target)
      return this.#seen(modified === 0 ? at : modified)
    } catch (error) {
      throw error instanceof EpochEnded ? this.#end(error) : readError(failureOf(error))
    }
  }

  #writeFailure(error: unknown): unknown {
    if (error instanceof EpochEnded) return this.#end(error)
    return error instanceof EtcdFailure ? writeError(error) : error
  }

  /** The server ends, because it cannot go on. */
  #end(reason: Error): Error {
    this.#fail(reason)
    return reason
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    const call = { path: '/etcdserverpb.KV/Range', request: encodeRange(request), decode: decodeRange }
    try {
      return (await this.#target.connection.call(call)).response
    } catch (error) {
      const failure = failureOf(error)
      throw isCompacted(failure) ? this.#compactedAt(request) : readError(failure)
    }
  }

  /** A read at a revision failed because another server has compacted it. */
  #compactedAt({ revision = 0 }: RangeRequest): Error {
    this.#compacted = Math.max(this.#compacted, revision + this.#target.offset + 1)
    return new Compacted(this.#compacted)
  }

  /** Ends the server when etcd is not the one any more that clients have revisions of. */
  async #checkEpoch(revision: number): Promise<void> {
    const { connection, layout, seen } = this.#target
    const known = seen.newest
    const { found, header } = await readInstallation(connection, layout)
    const isSame = found?.record.equals(this.#epoch.record) === true
    const isLater = header.revision >= revision && header.cluster === this.#epoch.cluster
    if (isSame && isLater && !(await hasLost(this.#target, found, known, header.revision))) return
    throw new EpochEnded()
  }

  /** Errors that a watch cannot survive end the server, except for one that begins too early. */
  #watchError(error: unknown, known: number): Error {
    if (error instanceof EtcdCompacted) {
      const compacted = error.revision + this.#target.offset
      this.#compacted = Math.max(this.#compacted, compacted)
      if (compacted <= known) return new Compacted(this.#compacted)
    }
    return this.#end(reasonOf(error))
  }

  /** Compacts the oldest changes when there are too many bytes of them. */
  #limit(revision: number, events: readonly EtcdEvent[]): void {
    const bytes = events.reduce((sum, { value: { key, value } }) => sum + key.length + value.length, 0)
    const upTo = this.#marks.add(revision, bytes)
    if (upTo > 0 && this.#timer !== undefined)
      void this.compact(upTo + this.#target.offset).catch(() => undefined)
  }

  /** Compacts what was there at the last look: everything newer is younger than the interval. */
  async #tidy(): Promise<void> {
    const upTo = this.#earlier
    this.#earlier = this.#revision
    await this.compact(upTo).catch(() => undefined)
  }
}

const missed =
  'etcd has compacted changes that this server has not read, because it was not connected for too long. Start it again.'

function reasonOf(error: unknown): Error {
  if (error instanceof EtcdCompacted) return new StoreError(missed)
  return error instanceof StoreError ? error : readError(failureOf(error))
}

const behind = (key: Buffer | undefined): Buffer | undefined => key && Buffer.concat([key, Buffer.alloc(1)])
