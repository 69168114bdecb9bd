import type { Commit, Medium } from './medium.ts'
import {
  type StoreChange,
  type StoreCondition,
  StoreConflict,
  type StoredValue,
  type StoreEvent,
} from './store.ts'

interface Pending {
  /** The value that readers see until the newest change of this key is durable. */
  durable: StoredValue | undefined
  latest: StoredValue | undefined
  revision: number
}

interface Waiter {
  readonly revision: number
  resolve(revision: number): void
  reject(error: Error): void
}

/** In bytes: LMDB has pages of 4 KiB. */
const longestKey = 1_900

/** Throws for keys that are too long, and for a key that occurs twice. */
export function checkNames(changes: readonly StoreChange[]): void {
  const seen = new Set<string>()
  for (const { key } of changes) {
    if (Buffer.byteLength(key) > longestKey) throw new Error(`a key has at most ${longestKey} bytes: ${key}`)
    if (seen.has(key)) throw new Error(`a commit names ${key} twice`)
    seen.add(key)
  }
}

function sizeOf(events: readonly StoreEvent[]): number {
  let bytes = 0
  for (const { key, value, previous } of events)
    bytes += key.length + (value?.value.length ?? 0) + (previous?.value.length ?? 0)
  return bytes
}

export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown))

/**
 * Groups the commits of one turn of the event loop into one transaction with one flush. A commit is checked against
 * earlier ones, durable or not. After a failed write the state of the medium is unknown: every later commit fails
 * with the same error.
 */
export class Group {
  /** Resolves with the reason when a write has failed. */
  readonly failed: Promise<Error>
  readonly #medium: Medium
  readonly #publish: (commits: readonly Commit[]) => void
  readonly #pending = new Map<string, Pending>()
  #assigned: number
  #gathered: Commit[] = []
  #waiters: Waiter[] = []
  #writing: readonly Commit[] = []
  #running: Promise<void> | undefined
  #failure: Error | undefined
  #tellFailure: (error: Error) => void = () => undefined

  constructor(medium: Medium, publish: (commits: readonly Commit[]) => void) {
    this.failed = new Promise(resolve => {
      this.#tellFailure = resolve
    })
    this.#medium = medium
    this.#publish = publish
    this.#assigned = medium.found.revision
  }

  /** Commits that the medium may contain although they are not durable. */
  get writing(): readonly Commit[] {
    return this.#writing
  }

  durable(key: string): StoredValue | undefined {
    const pending = this.#pending.get(key)
    return pending === undefined ? this.#medium.get(key) : pending.durable
  }

  /**
   * Resolves with the revision when the commit is durable; for a commit without changes, with the revision of the
   * commit before it. A conflict with a commit is reported when that one is durable: who asks for the newest revision then gets it.
   */
  add(changes: readonly StoreChange[], conditions: readonly StoreCondition[]): Promise<number> {
    if (this.#failure !== undefined) throw this.#failure
    const revision = this.#assigned + 1
    const events = this.#checked(changes, conditions, revision)
    if (events instanceof StoreConflict) return this.#conflict(events)
    if (events.length > 0) {
      this.#assigned = revision
      for (const event of events) this.#remember(event)
      this.#gathered.push({ revision, time: Date.now(), bytes: sizeOf(events), events })
    }
    return this.#acknowledged()
  }

  #checked(
    changes: readonly StoreChange[],
    conditions: readonly StoreCondition[],
    revision: number,
  ): readonly StoreEvent[] | StoreConflict {
    try {
      for (const condition of conditions) this.#require(condition)
      return this.#check(changes, revision)
    } catch (error) {
      if (error instanceof StoreConflict) return error
      throw error
    }
  }

  async #conflict(conflict: StoreConflict): Promise<never> {
    if (this.#pending.has(conflict.key)) await this.#acknowledged()
    throw conflict
  }

  /** Waits for accepted commits; later commits are refused. */
  async close(): Promise<void> {
    this.#failure ??= new Error('the store is closed')
    await this.#running
  }

  #acknowledged(): Promise<number> {
    this.#running ??= this.#run()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ revision: this.#assigned, resolve, reject })
    })
  }

  #check(changes: readonly StoreChange[], revision: number): readonly StoreEvent[] {
    checkNames(changes)
    const events: StoreEvent[] = []
    for (const { key, value, expected } of changes) {
      const previous = this.#require({ key, expected })
      if (value !== undefined) {
        const next = { key, value, created: previous?.created ?? revision, modified: revision }
        events.push({ revision, key, value: next, ...(previous === undefined ? {} : { previous }) })
      } else if (previous !== undefined) events.push({ revision, key, previous })
    }
    return events
  }

  /** The newest value of a key. Throws `StoreConflict` unless it is at the expected revision, if there is one. */
  #require({
    key,
    expected,
  }: Pick<StoreChange, 'key'> & { expected: number | undefined }): StoredValue | undefined {
    const latest = this.#latest(key)
    if (expected !== undefined && expected !== (latest?.modified ?? 0)) throw new StoreConflict(key)
    return latest
  }

  #latest(key: string): StoredValue | undefined {
    const pending = this.#pending.get(key)
    return pending === undefined ? this.#medium.get(key) : pending.latest
  }

  #remember({ key, value, previous, revision }: StoreEvent): void {
    const pending = this.#pending.get(key)
    if (pending === undefined) this.#pending.set(key, { durable: previous, latest: value, revision })
    else Object.assign(pending, { latest: value, revision })
  }

  /** Waits for the end of the turn, to include its other commits. */
  async #run(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    while (this.#waiters.length > 0) await this.#flush()
    this.#running = undefined
  }

  async #flush(): Promise<void> {
    const [commits, waiters] = [this.#gathered, this.#waiters]
    this.#gathered = []
    this.#waiters = []
    this.#writing = commits
    try {
      if (commits.length > 0) await this.#medium.write(commits)
    } catch (thrown) {
      return this.fail(asError(thrown), waiters)
    }
    this.#writing = []
    for (const commit of commits) for (const event of commit.events) this.#settle(event)
    if (commits.length > 0) this.#publish(commits)
    for (const waiter of waiters) waiter.resolve(waiter.revision)
  }

  #settle({ key, value, revision }: StoreEvent): void {
    const pending = this.#pending.get(key)
    if (pending?.revision === revision) this.#pending.delete(key)
    else if (pending !== undefined) pending.durable = value
  }

  /** Refuses all commits that are not acknowledged yet, and all later ones. */
  fail(error: Error, waiters: readonly Waiter[] = []): void {
    this.#failure = error
    this.#tellFailure(error)
    for (const waiter of [...waiters, ...this.#waiters]) waiter.reject(error)
    this.#gathered = []
    this.#waiters = []
  }
}
