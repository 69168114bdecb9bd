import { nextEpoch } from './epoch.ts'
import { type History, upTo } from './history.ts'
import { LoggedStore } from './logged.ts'
import type { Commit, Medium, Most } from './medium.ts'
import type { Store, StoredValue } from './store.ts'

/** Bytes of history in memory. */
const mostHistory = 256 * 1024 * 1024

/** A store in memory, for tests and examples. */
export const openMemoryStore = (history?: Partial<History>): Store =>
  new LoggedStore(new MemoryMedium(0), { bytes: mostHistory, ...history })

/**
 * A store in memory for a server. It starts a new epoch: a client that watched the server before its restart gets 410, and
 * not the events of other objects with the same revisions.
 */
export const openTemporaryStore = (): Store =>
  new LoggedStore(new MemoryMedium(nextEpoch(0)), { bytes: mostHistory })

class MemoryMedium implements Medium {
  readonly found: Medium['found']
  readonly #values = new Map<string, StoredValue>()
  /** The keys in order; computed again when a scan finds that keys were added or removed. */
  #keys: readonly string[] | undefined
  #log: Commit[] = []

  /** `revision`: the one before the first commit. */
  constructor(revision: number) {
    this.found = { revision, compacted: revision }
  }

  get(key: string): StoredValue | undefined {
    return this.#values.get(key)
  }

  scan(from: string, to: string, most: Most): readonly StoredValue[] {
    return upTo(this.#valuesIn(from, to), most, ({ value }) => value.length)
  }

  log(after: number, most: Most): readonly Commit[] {
    const start = Math.max(0, after + 1 - (this.#log[0]?.revision ?? 0))
    return upTo(this.#log.slice(start, start + most.count), most, ({ bytes }) => bytes)
  }

  problem(): undefined {
    return undefined
  }

  async write(commits: readonly Commit[]): Promise<void> {
    for (const commit of commits) {
      for (const { key, value, previous } of commit.events) {
        if (value === undefined || previous === undefined) this.#keys = undefined
        if (value === undefined) this.#values.delete(key)
        else this.#values.set(key, value)
      }
      this.#log.push(commit)
    }
  }

  async forget(revision: number): Promise<void> {
    this.#log = this.#log.filter(commit => commit.revision > revision)
  }

  async close(): Promise<void> {
    this.#values.clear()
    this.#log = []
  }

  *#valuesIn(from: string, to: string): Generator<StoredValue> {
    this.#keys ??= [...this.#values.keys()].sort()
    for (let i = lowerBound(this.#keys, from); ; i++) {
      const key = this.#keys[i]
      const value = key === undefined || key >= to ? undefined : this.#values.get(key)
      if (value === undefined) return
      yield value
    }
  }
}

/** The index of the first key that is not before `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}
