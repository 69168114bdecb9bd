import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import type { LastWrite } from '../epoch.ts'
import { absent, decodeValue } from '../logged.ts'
import type { Commit } from '../medium.ts'
import { StoreError, type StoreEvent } from '../store.ts'
import { allocateLock, whyUnusable } from './datafile.ts'

// The client takes the options, and its types have them for `putSync` only.
declare module 'lmdb' {
  interface Database<V, K> {
    put(id: K, value: V, options: { readonly append: boolean }): Promise<boolean>
  }
}

/** The file of a store in its directory. */
export const fileName = 'oriel.mdb'
const formatNumber = 2
const format = `oriel store ${formatNumber}`
/** Without checksums. */
const firstFormat = 'oriel store 1'

/**
 * In bytes, of addresses only. When a file grows beyond its map, the client of LMDB makes a second map and keeps the first one,
 * so that its pages count twice as memory of the process. Windows would give the file the size of its map.
 */
const mapSize = process.platform === 'win32' ? undefined : 64 * 1024 ** 3

export const foreign = (directory: string, why: string): Error =>
  new StoreError(`the store in ${directory} is damaged or has another format: ${why}`)

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Runs a read; throws a `StoreError` when it fails. */
export function reading<T>(directory: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw unreadable(directory, error)
  }
}

export const unreadable = (directory: string, error: unknown): Error =>
  error instanceof StoreError ? error : foreign(directory, textOf(error))

/** Newest revision, and the one up to which the log is forgotten. */
export interface StoreState {
  readonly revision: number
  readonly compacted: number
}

export interface Tables {
  readonly root: RootDatabase<Buffer, string>
  /** Current values by key. */
  readonly current: Database<Buffer, string>
  /** The same, for reading ranges only. */
  readonly ranges: Database<Buffer, string>
  /** Commits by revision. */
  readonly log: Database<Buffer, number>
  /** Format, owner, last transaction, and where the log begins. */
  readonly meta: Database<Buffer, string>
}

/** Opens the tables of a store. Throws `StoreError` for a file that is damaged, not readable, or of another program or version. */
export const openTables = (directory: string, mode: 'read' | 'write'): Promise<Tables> =>
  tablesIn(directory, mode).catch(error => {
    throw asStoreError(directory, error)
  })

/** Why a store cannot be opened. */
export const asStoreError = (directory: string, error: unknown): StoreError =>
  error instanceof StoreError
    ? error
    : new StoreError(`the store in ${directory} cannot be opened: ${reasonOf(error)}`)

const reasonOf = (error: unknown): string =>
  /^(EEXIST|ENOTDIR)\b/.test(textOf(error)) ? 'this is not a directory: choose another one.' : textOf(error)

async function tablesIn(directory: string, mode: 'read' | 'write'): Promise<Tables> {
  const path = join(directory, fileName)
  if (mode === 'read' && !existsSync(path)) throw new StoreError(`there is no store in ${directory}`)
  const why = await whyUnusable(path, mode)
  if (why !== undefined) throw foreign(directory, `${fileName} ${why}`)
  if (!existsSync(`${path}-lock`)) await allocateLock(path)
  // A commit must resolve when it is durable: with overlappingSync it would be visible before, and single commits
  // would be slower.
  const root: RootDatabase<Buffer, string> = open({
    path,
    noSubdir: true,
    encoding: 'binary',
    cache: false,
    maxDbs: 3,
    overlappingSync: false,
    ...(mapSize !== undefined && { mapSize }),
    readOnly: mode === 'read',
  })
  try {
    const tables = reading(directory, () => tablesOf(directory, root))
    await checkFormat(directory, tables, mode)
    return tables
  } catch (error) {
    await root.close()
    throw error
  }
}

/** Copies small values to the pool of Node: the client of LMDB would allocate memory for each. */
const pooled = {
  decode: (bytes: Buffer, length: number): Buffer => Buffer.from(bytes.subarray(0, length)),
}

function tablesOf(directory: string, root: RootDatabase<Buffer, string>): Tables {
  const names = [...root.getKeys()]
  if (names.length > 0 && !names.includes('meta')) throw foreign(directory, `it has the tables ${names}`)
  const options = { encoding: 'binary', cache: false } as const
  const ranged = { ...options, encoder: pooled }
  return {
    root,
    current: root.openDB<Buffer, string>('current', options),
    ranges: root.openDB<Buffer, string>('current', ranged),
    log: root.openDB<Buffer, number>('log', options),
    meta: root.openDB<Buffer, string>('meta', { ...options, useVersions: true }),
  }
}

/** A key of a range: the client of LMDB reads a text with NUL as a list of its parts. */
export const keyText = (key: string | readonly unknown[]): string =>
  typeof key === 'string' ? key : key.join('\0')

async function checkFormat(directory: string, { meta }: Tables, mode: 'read' | 'write'): Promise<void> {
  const found = meta.getBinary('format')?.toString()
  if (found === format || found === firstFormat) return
  if (found !== undefined || mode === 'read') throw otherFormat(directory, found ?? '')
  await putFormat(meta)
}

/** Later versions of Oriel count the format up. */
function otherFormat(directory: string, found: string): Error {
  const [, number = '0'] = /^oriel store (\d+)$/.exec(found) ?? []
  if (Number(number) <= formatNumber) return foreign(directory, `its format is '${found}', not '${format}'`)
  return new StoreError(
    `the store in ${directory} has the format '${found}' of a later version of Oriel: this version reads '${format}'. ` +
      'Start the later version.',
  )
}

/** Marks a store as one of the newest format. */
export const putFormat = (meta: Tables['meta']): Promise<boolean> =>
  meta.put('format', Buffer.from(format), 1)

export const parse = <T>(bytes: Buffer | undefined): T | undefined =>
  bytes === undefined ? undefined : JSON.parse(bytes.toString())

export function stateOf({ meta, log }: Tables): StoreState {
  const { revision, compacted } = parse<StoreState>(meta.getBinary('state')) ?? { revision: 0, compacted: 0 }
  const [newest = 0] = log.getKeys({ reverse: true, limit: 1 })
  return { revision: Math.max(newest, revision), compacted }
}

/** The last transaction: commits are in the log with their time, other transactions in `written`. */
export function lastWrite({ meta, log }: Tables): LastWrite | undefined {
  const written = parse<LastWrite>(meta.getBinary('written'))
  const [commit] = log.getRange({ reverse: true, limit: 1 })
  const committed = commit === undefined ? 0 : decodeCommit(commit.key, commit.value).time
  return written && { ...written, time: Math.max(written.time, committed) }
}

export const putJson = (meta: Tables['meta'], key: string, value: object, version = 1): Promise<boolean> =>
  meta.put(key, Buffer.from(JSON.stringify(value)), version)

export function decodeCommit(revision: number, bytes: Buffer): Commit {
  const events: StoreEvent[] = []
  let at = 8
  const next = (): Buffer | undefined => {
    const length = bytes.readUInt32LE(at)
    at += 4
    if (length === absent) return undefined
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const key = next()?.toString() ?? ''
    const [value, previous] = [next(), next()]
    events.push({
      revision,
      key,
      ...(value === undefined ? {} : { value: decodeValue(key, value) }),
      ...(previous === undefined ? {} : { previous: decodeValue(key, previous) }),
    })
  }
  return { revision, time: bytes.readDoubleLE(0), bytes: bytes.length, events }
}
