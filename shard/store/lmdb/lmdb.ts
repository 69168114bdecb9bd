import { randomInt } from 'node:crypto'
import { type Stats, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type LastWrite, mayBeRestored, nextEpoch } from '../epoch.ts'
import { type History, upTo } from '../history.ts'
import { decodeValue, encodeCommit, encodeValue, LoggedStore } from '../logged.ts'
import type { Commit, Medium, Most } from '../medium.ts'
import { type Store, type StoredValue, StoreError } from '../store.ts'
import { isAlive, type Owner, thisProcess } from './owner.ts'
import {
  asStoreError,
  decodeCommit,
  fileName,
  keyText,
  lastWrite,
  openTables,
  parse,
  putFormat,
  putJson,
  reading,
  type StoreState,
  stateOf,
  type Tables,
  textOf,
  unreadable,
} from './tables.ts'

const perTransaction = 1_000

const lengthOf = ({ value }: { readonly value: Buffer }): number => value.length

/** The error of LMDB lacks the reason of the operating system, which only a promise of the error has. */
async function unwritable(directory: string, error: unknown): Promise<Error> {
  const { commitError } = error as { readonly commitError?: Promise<unknown> }
  const why = await Promise.resolve(commitError).then(
    () => error,
    (reason: unknown) => reason,
  )
  return new StoreError(
    `the store in ${directory} cannot be written: ${textOf(why)}. Is there room on the disk?`,
  )
}

/**
 * Opens the store in a directory, and creates it if needed: its first revision is 1. Throws a `StoreError` when it is in use
 * or damaged.
 */
export const openLmdbStore = (directory: string, history?: Partial<History>): Promise<Store> =>
  openStore(directory, 0, history)

/**
 * Opens the store of a server. A new one begins a new epoch: a client that watched the server before its directory was
 * deleted gets 410, and not the events of other objects with the same revisions. Throws as `openLmdbStore` does.
 */
export const openDurableStore = (directory: string): Promise<Store> => openStore(directory, nextEpoch(0))

/** `begin`: the revision before the first commit of a new store. */
async function openStore(directory: string, begin: number, history?: Partial<History>): Promise<Store> {
  try {
    return new LoggedStore(await openMedium(directory, begin), history)
  } catch (error) {
    throw asStoreError(directory, error)
  }
}

async function openMedium(directory: string, begin: number): Promise<LmdbMedium> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const file = statSync(join(directory, fileName), { throwIfNoEntry: false })
  const tables = await openTables(directory, 'write')
  try {
    return await LmdbMedium.open(directory, tables, { file, begin })
  } catch (error) {
    await tables.root.close()
    throw error
  }
}

/**
 * Makes this process the owner by a number that every later transaction requires; undefined when another process was
 * faster. `state`: the new state of a new or restored store.
 */
async function own(
  meta: Tables['meta'],
  written: LastWrite,
  state: StoreState | undefined,
): Promise<number | undefined> {
  const owner = meta.getEntry('owner')
  const ticket = randomInt(1, 2 ** 47)
  const take = (): void => {
    void putJson(meta, 'owner', thisProcess(), ticket)
    void putJson(meta, 'written', written)
    void putFormat(meta)
    if (state !== undefined) void putJson(meta, 'state', state)
  }
  const first = owner?.version === undefined
  const done = first ? meta.ifNoExists('owner', take) : meta.ifVersion('owner', owner.version ?? 0, take)
  return (await done) ? ticket : undefined
}

interface Found {
  /** The state of the file before it was opened. */
  readonly file: Stats | undefined
  /** The revision before the first commit, if the store is new. */
  readonly begin: number
}

/** Becomes the owner. A restored store starts a new epoch in the same transaction. */
async function take(tables: Tables, directory: string, found: Found): Promise<number | undefined> {
  const written = { time: Date.now(), inode: statSync(join(directory, fileName)).ino }
  return own(tables.meta, written, beginning(tables, directory, found)).catch(async error => {
    throw await unwritable(directory, error)
  })
}

/** The state with which a new or a restored store begins; undefined: the one that is in its file. */
function beginning(tables: Tables, directory: string, { file, begin }: Found): StoreState | undefined {
  const [state, last] = reading(directory, () => [stateOf(tables), lastWrite(tables)])
  if (last === undefined && state.revision === 0) return { revision: begin, compacted: begin }
  if (file === undefined || !mayBeRestored(last, file)) return undefined
  const revision = nextEpoch(state.revision)
  return { revision, compacted: revision }
}

class LmdbMedium implements Medium {
  readonly found: StoreState
  readonly #directory: string
  readonly #tables: Tables
  readonly #ticket: number
  readonly #inode: number
  readonly #isThere: () => boolean

  private constructor(directory: string, tables: Tables, ticket: number) {
    this.#directory = directory
    this.#tables = tables
    this.#ticket = ticket
    const path = join(directory, fileName)
    this.#inode = statSync(path).ino
    this.#isThere = samenessOf(path)
    this.found = stateOf(tables)
  }

  static async open(directory: string, tables: Tables, found: Found): Promise<LmdbMedium> {
    const owner = parse<Owner>(tables.meta.getBinary('owner'))
    const isTaken = owner !== undefined && isAlive(owner)
    const ticket = isTaken ? undefined : await take(tables, directory, found)
    if (ticket !== undefined) return new LmdbMedium(directory, tables, ticket)
    const who = owner === undefined ? 'another process' : `process ${owner.pid}`
    throw new StoreError(`the store in ${directory} is in use by ${who}: only one process may open it`)
  }

  get(key: string): StoredValue | undefined {
    return this.#reading(({ current }) => {
      const bytes = current.getBinary(key)
      return bytes === undefined ? undefined : decodeValue(key, bytes)
    })
  }

  scan(from: string, to: string, most: Most): readonly StoredValue[] {
    return this.#reading(({ ranges }) =>
      upTo(ranges.getRange({ start: from, end: to, limit: most.count }), most, lengthOf).map(
        ({ key, value }) => decodeValue(keyText(key), value),
      ),
    )
  }

  log(after: number, most: Most): readonly Commit[] {
    return this.#reading(({ log }) =>
      upTo(log.getRange({ start: after + 1, limit: most.count }), most, lengthOf).map(({ key, value }) =>
        decodeCommit(key, value),
      ),
    )
  }

  problem(): Error | undefined {
    if (this.#isThere()) return undefined
    return new StoreError(
      `the store in ${this.#directory} cannot be written: ${fileName} was removed or replaced while it was in use. Restore it, and start again.`,
    )
  }

  write(commits: readonly Commit[]): Promise<void> {
    return this.#transaction(({ current, log }) =>
      commits.flatMap(commit => {
        const values = commit.events.map(({ value }) => value && encodeValue(value))
        return [
          // Revisions ascend: with `append` a full page stays full, without it LMDB moves half of it to the next page.
          log.put(commit.revision, encodeCommit(commit, values), { append: true }),
          ...commit.events.map(({ key }, i) => {
            const value = values[i]
            return value === undefined ? current.remove(key) : current.put(key, value)
          }),
        ]
      }),
    )
  }

  async forget(revision: number): Promise<void> {
    const { log } = this.#tables
    const state: StoreState = { revision, compacted: revision }
    await this.#transaction(({ meta }) => [putJson(meta, 'state', state), this.#stamp()])
    for (;;) {
      const old = Array.from(log.getKeys({ end: revision + 1, limit: perTransaction }))
      if (old.length === 0) return
      await this.#transaction(() => [...old.map(key => log.remove(key)), this.#stamp()])
    }
  }

  async close(): Promise<void> {
    const { meta, root } = this.#tables
    await meta.ifVersion('owner', this.#ticket, () => {
      meta.remove('owner')
      void this.#stamp()
    })
    await root.close()
  }

  /** Stores the time of a transaction that is not a commit. */
  #stamp(): Promise<boolean> {
    return putJson(this.#tables.meta, 'written', { time: Date.now(), inode: this.#inode })
  }

  #reading<T>(read: (tables: Tables) => T): T {
    try {
      return read(this.#tables)
    } catch (error) {
      throw unreadable(this.#directory, error)
    }
  }

  /** Runs `write` in a transaction, unless another process has become the owner. Resolves when durable. */
  async #transaction(write: (tables: Tables) => readonly Promise<unknown>[]): Promise<void> {
    const { meta, root } = this.#tables
    let written: readonly Promise<unknown>[] = []
    const done = await meta
      .ifVersion('owner', this.#ticket, () => {
        written = write(this.#tables)
      })
      .catch(async (error: unknown) => {
        await Promise.allSettled(written)
        throw await unwritable(this.#directory, error)
      })
    if (!done) throw new StoreError(`the store in ${this.#directory} was taken over by another process`)
    const problem = this.problem()
    if (problem !== undefined) throw problem
    root.resetReadTxn()
  }
}

/** Returns a function that checks whether the path still refers to the same file. */
function samenessOf(path: string): () => boolean {
  const { dev, ino } = statSync(path)
  return () => {
    try {
      const found = statSync(path)
      return found.ino === ino && found.dev === dev
    } catch {
      return false
    }
  }
}
