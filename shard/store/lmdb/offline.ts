import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { nextEpoch } from '../epoch.ts'
import { decodeValue } from '../logged.ts'
import { StoreError } from '../store.ts'
import {
  decodeCommit,
  fileName,
  keyText,
  openTables,
  putJson,
  reading,
  type StoreState,
  stateOf,
  type Tables,
  textOf,
} from './tables.ts'

/** What a check of a store has found. */
export interface StoreReport extends StoreState {
  /** Current values: objects, and a few records of the server. */
  readonly values: number
  /** Bytes of these. */
  readonly bytes: number
  /** Commits in the log, from which watches resume. */
  readonly commits: number
  /** The keys of values with a wrong checksum: `/registry/<group>/<resource>/…`. */
  readonly damaged: readonly string[]
}

/** Values in one read transaction: a longer one would keep a running server from reusing the pages of its file. */
const chunk = 1_000

/**
 * Reads every value and every commit of a store, also while a server uses it. `read` is called with the number of values and
 * commits so far. Throws `StoreError` for a store that cannot be read.
 */
export async function checkStore(directory: string, read: (entries: number) => void): Promise<StoreReport> {
  const tables = await openTables(directory, 'read')
  try {
    const values = await readValues(directory, tables, read)
    const commits = await readCommits(directory, tables, count => read(values.values + count))
    return { ...reading(directory, () => stateOf(tables)), ...values, commits }
  } finally {
    await tables.root.close()
  }
}

const turn = (): Promise<void> => new Promise(setImmediate)

async function readValues(directory: string, { root, current }: Tables, read: (values: number) => void) {
  const found = { values: 0, bytes: 0, damaged: [] as string[] }
  let start: string | undefined
  do {
    root.resetReadTxn()
    const part = reading(directory, () =>
      Array.from(
        current.getRange({ ...(start !== undefined && { start }), limit: chunk }),
        ({ key: stored, value }) => {
          const key = keyText(stored)
          found.bytes += value.length
          if (decodeValue(key, value).damaged) found.damaged.push(key)
          return key
        },
      ),
    )
    found.values += part.length
    start = part.length < chunk ? undefined : `${part.at(-1)}\0`
    read(found.values)
    await turn()
  } while (start !== undefined)
  return found
}

async function readCommits(
  directory: string,
  { root, log }: Tables,
  read: (commits: number) => void,
): Promise<number> {
  let commits = 0
  let start: number | undefined = 0
  do {
    root.resetReadTxn()
    const part = reading(directory, () =>
      Array.from(log.getRange({ start: start ?? 0, limit: chunk }), ({ key, value }) => {
        decodeCommit(key, value)
        return key
      }),
    )
    commits += part.length
    start = part.length < chunk ? undefined : (part.at(-1) ?? 0) + 1
    read(commits)
    await turn()
  } while (start !== undefined)
  return commits
}

/**
 * Copies the state of a store after its last transaction to another directory, without free pages, also while a server uses
 * the store (`mdb_env_copy2` of LMDB).
 */
export async function copyStore(directory: string, target: string): Promise<StoreState> {
  const { root } = await openTables(directory, 'read')
  try {
    await root.backup(join(target, fileName), true)
  } catch (error) {
    throw new StoreError(`the store in ${directory} cannot be copied to ${target}: ${textOf(error)}`)
  } finally {
    await root.close()
  }
  const copy = await openTables(target, 'read')
  try {
    return stateOf(copy)
  } finally {
    await copy.root.close()
    await rm(join(target, `${fileName}-lock`), { force: true })
  }
}

/**
 * Prepares the store of a restored backup for its server: the process that used the original does not own it, and all
 * revisions that clients may have seen are compacted, so that they list again. `above`: the newest revision of a store of which
 * it is a copy.
 */
export async function beginEpoch(directory: string, above = 0): Promise<StoreState> {
  const tables = await openTables(directory, 'write')
  try {
    const revision = nextEpoch(Math.max(above, stateOf(tables).revision))
    const state: StoreState = { revision, compacted: revision }
    await tables.root.transaction(() => {
      void tables.meta.remove('owner')
      void putJson(tables.meta, 'state', state)
    })
    return state
  } finally {
    await tables.root.close()
  }
}
