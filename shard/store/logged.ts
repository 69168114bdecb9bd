import { crc32 } from 'node:zlib'
import { asError, Group } from './group.ts'
import { type History, newestBefore, surplus } from './history.ts'
import type { Commit, Medium, Most } from './medium.ts'
import {
  Compacted,
  intact,
  type Store,
  type StoreChange,
  type StoreCondition,
  type StoredValue,
  type StoreEvent,
} from './store.ts'
import { Undone } from './undo.ts'

const defaultHistory: History = { seconds: 300, commits: 30_000, bytes: 4 * 1024 ** 3 }
const compactEvery = 10_000
const checkEvery = 1_000
/** The part of the bytes of history that is left when it was too large. */
const afterCut = 0.75
/** What one read of the medium returns at most, and what of the log is in memory. */
const chunk: Most = { count: 1_000, bytes: 16 * 1024 * 1024 }
const tail: Most = { count: 500, bytes: 16 * 1024 * 1024 }

/** Implements `Store` over a `Medium`: grouping, history, watches and compaction are the same for all media. */
export class LoggedStore implements Store {
  readonly isShared = false
  readonly #medium: Medium
  readonly #history: History
  readonly #group: Group
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #waiting = new Set<() => void>()
  /** The open watches, with the revisions up to which they have read the log. */
  readonly #readers = new Set<{ readonly position: number }>()
  /** The newest commits, so that watchers that keep up never read the medium. */
  #recent: Commit[] = []
  #recentBytes = 0
  /** The bytes of each commit that is not compacted, without those of before the start. */
  #sizes: number[] = []
  #bytes = 0
  #revision: number
  #compacted: number
  #compacting: Promise<void> = Promise.resolve()
  #closed = false

  constructor(medium: Medium, history: Partial<History> = {}) {
    this.#medium = medium
    this.#history = { ...defaultHistory, ...history }
    this.#revision = medium.found.revision
    this.#compacted = medium.found.compacted
    this.#group = new Group(medium, commits => this.#publish(commits))
    this.#timers = [
      setInterval(() => void this.#tidy(), compactEvery).unref(),
      setInterval(() => this.#check(), checkEvery).unref(),
    ]
    // At once: what is not kept is not read by the first readers.
    void this.#tidy()
  }

  get revision(): number {
    return this.#revision
  }

  get compacted(): number {
    return this.#compacted
  }

  get failed(): Promise<Error> {
    return this.#group.failed
  }

  async get(key: string): Promise<StoredValue | undefined> {
    return intact(this.#group.durable(key))
  }

  async latest(): Promise<number> {
    return this.#revision
  }

  async commit(changes: readonly StoreChange[], conditions: readonly StoreCondition[] = []): Promise<number> {
    return this.#group.add(changes, conditions)
  }

  async *range(
    from: string,
    to: string,
    options: { limit?: number; revision?: number } = {},
  ): AsyncGenerator<readonly StoredValue[]> {
    const at = options.revision ?? this.#revision
    const before = new Undone()
    let missing = options.limit ?? Number.POSITIVE_INFINITY
    let undone = at
    for (let next = from; next < to && missing > 0; ) {
      if (at < this.#compacted) throw new Compacted(this.#compacted)
      undone = this.#undoAfter(undone, before)
      const found = this.#medium.scan(next, to, chunk)
      const last = found.at(-1)
      const end = last === undefined ? to : `${last.key}\0`
      const values = before.corrected(found, [next, end]).slice(0, missing)
      missing -= values.length
      next = end
      if (values.length > 0) yield values
    }
  }

  async *watch(prefix: string, after: number, signal: AbortSignal): AsyncGenerator<readonly StoreEvent[]> {
    const reader = { position: after }
    const leave = (): void => {
      this.#readers.delete(reader)
      this.#wake()
    }
    signal.addEventListener('abort', leave)
    this.#readers.add(reader)
    try {
      while (!signal.aborted && !this.#closed) {
        if (reader.position < this.#compacted) throw new Compacted(this.#compacted)
        const commits = this.#read(reader.position)
        reader.position = commits.at(-1)?.revision ?? reader.position
        const events = commits.flatMap(commit => commit.events.filter(event => event.key.startsWith(prefix)))
        if (events.length > 0) yield events
        else if (commits.length === 0) await this.#change()
      }
    } finally {
      this.#readers.delete(reader)
      signal.removeEventListener('abort', leave)
    }
  }

  /** One compaction at a time: the log is cut from its old end only. */
  compact(revision: number): Promise<void> {
    const upTo = Math.min(revision, this.#revision)
    if (upTo <= this.#compacted) return this.#compacting
    this.#compacted = upTo
    for (const size of this.#sizes.splice(0, Math.max(0, upTo - this.#beforeSizes))) this.#bytes -= size
    this.#compacting = this.#compacting.then(() => (this.#closed ? undefined : this.#medium.forget(upTo)))
    return this.#compacting
  }

  async close(): Promise<void> {
    if (this.#closed) return
    for (const timer of this.#timers) clearInterval(timer)
    await this.#group.close()
    await this.#compacting.catch(() => undefined)
    this.#closed = true
    this.#wake()
    await this.#medium.close()
  }

  #publish(commits: readonly Commit[]): void {
    // Before: watchers have not read these commits yet.
    if (this.#bytes > this.#history.bytes) void this.#tidy()
    for (const commit of commits) this.#keep(commit)
    if (this.#recent.length > 2 * tail.count || this.#recentBytes > 2 * tail.bytes) this.#forgetRecent()
    this.#revision = commits.at(-1)?.revision ?? this.#revision
    this.#wake()
  }

  #keep(commit: Commit): void {
    this.#recent.push(commit)
    this.#recentBytes += commit.bytes
    this.#sizes.push(commit.bytes)
    this.#bytes += commit.bytes
  }

  #forgetRecent(): void {
    const sizes = this.#recent.map(({ bytes }) => bytes)
    for (const { bytes } of this.#recent.splice(0, surplus(sizes, tail))) this.#recentBytes -= bytes
  }

  /** The revision before the first of the sizes. */
  get #beforeSizes(): number {
    return this.#revision - this.#sizes.length
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resume of waiting) resume()
  }

  #change(): Promise<void> {
    return new Promise(resolve => this.#waiting.add(resolve))
  }

  /** Durable commits after a revision, oldest first. */
  #read(after: number): readonly Commit[] {
    if (after >= this.#revision) return []
    const first = this.#recent[0]
    if (first === undefined || first.revision > after + 1)
      return this.#medium.log(after, chunk).filter(commit => commit.revision <= this.#revision)
    const start = after + 1 - first.revision
    return this.#recent.slice(start, start + chunk.count)
  }

  /**
   * Adds the undo values of all changes after a revision that the medium may contain, durable or not; returns the
   * last revision.
   */
  #undoAfter(revision: number, before: Undone): number {
    let position = revision
    for (;;) {
      const commits = this.#read(position)
      before.add(commits)
      position = commits.at(-1)?.revision ?? position
      if (commits.length === 0) break
    }
    before.add(this.#group.writing)
    return position
  }

  async #tidy(): Promise<void> {
    try {
      const { seconds, commits } = this.#history
      const byCount = Math.max(this.#surplus(), this.#revision - commits)
      const old = newestBefore(this.#medium, [this.#compacted, this.#revision], Date.now() - seconds * 1_000)
      // Commits are old and unread after a pause of the process.
      const read = Math.min(...Array.from(this.#readers, ({ position }) => position))
      await this.compact(Math.max(byCount, Math.min(old, read)))
    } catch (error) {
      this.#group.fail(asError(error))
    }
  }

  /** The newest commit that is dropped because of the bytes of history; 0: none. */
  #surplus(): number {
    const { bytes } = this.#history
    if (this.#bytes <= bytes) return 0
    return this.#beforeSizes + surplus(this.#sizes, { count: this.#sizes.length, bytes: bytes * afterCut })
  }

  #check(): void {
    const problem = this.#medium.problem()
    if (problem !== undefined) this.#group.fail(problem)
  }
}

// A stored value: created and modified as doubles, the bytes, and the CRC-32 of all of them. Values of format 1 have
// no checksum; in others `created` is negative.
const valueHeader = 16
const checksum = 4

/** Keeps the wrong checksum of a damaged value, also in the log. */
export function encodeValue({ value, created, modified, damaged }: StoredValue): Buffer {
  const end = valueHeader + value.length
  const bytes = Buffer.allocUnsafe(end + checksum)
  bytes.writeDoubleLE(-created, 0)
  bytes.writeDoubleLE(modified, 8)
  value.copy(bytes, valueHeader)
  const sum = crc32(bytes.subarray(0, end))
  bytes.writeUInt32LE(damaged ? ~sum >>> 0 : sum, end)
  return bytes
}

const isRevision = (number: number): boolean => Number.isSafeInteger(number) && number > 0

/** Never throws: a value with a wrong checksum is marked as damaged. */
export function decodeValue(key: string, bytes: Buffer): StoredValue {
  const [created, modified] =
    bytes.length < valueHeader ? [0, 0] : [bytes.readDoubleLE(0), bytes.readDoubleLE(8)]
  const isPlain = isRevision(created) && isRevision(modified)
  if (isPlain) return { key, value: bytes.subarray(valueHeader), created, modified }
  const end = bytes.length - checksum
  const isKnown = isRevision(-created) && isRevision(modified) && end >= valueHeader
  const value = bytes.subarray(valueHeader, Math.max(valueHeader, end))
  if (!isKnown) return { key, value, created: 1, modified: -1, damaged: true }
  const decoded = { key, value, created: -created, modified }
  return crc32(bytes.subarray(0, end)) === bytes.readUInt32LE(end) ? decoded : { ...decoded, damaged: true }
}

/** Length (32 bit; all bits set: absent) and bytes of each part. */
export const absent = 0xffffffff

function blob(bytes: Buffer | undefined): readonly Buffer[] {
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32LE(bytes?.length ?? absent)
  return bytes === undefined ? [length] : [length, bytes]
}

/**
 * A commit for the log, without its revision: time as a double, then key, value and previous value of each event.
 * `values`: the encoded values of the events.
 */
export function encodeCommit({ time, events }: Commit, values: readonly (Buffer | undefined)[]): Buffer {
  const head = Buffer.allocUnsafe(8)
  head.writeDoubleLE(time)
  const parts = events.flatMap(({ key, previous }, i) => [
    ...blob(Buffer.from(key)),
    ...blob(values[i]),
    ...blob(previous === undefined ? undefined : encodeValue(previous)),
  ])
  return Buffer.concat([head, ...parts])
}
