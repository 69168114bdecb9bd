import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar'
import { beginEpoch, checkStore, type StoreReport } from '../../shard/store/lmdb/offline.ts'
import { StoreError } from '../../shard/store/store.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import { shortLineText } from '../files/terminaltext.ts'
import { withProgress } from '../process/progress.ts'
import { manifestName, manifestProblem, readManifest } from './manifest.ts'

export interface RestoreFlags {
  readonly dataDirectory: string
  /** A path, or `-`. */
  readonly input: string
}

/**
 * `oriel restore`. Throws `StartError` for a data directory with files and for a backup that is damaged or cut off; then
 * nothing has changed.
 */
export async function restore({ dataDirectory, input }: RestoreFlags): Promise<void> {
  await checkIsEmpty(dataDirectory)
  const staging = await stagingFor(dataDirectory)
  try {
    await withProgress('Reading the backup', () => unpack(input, staging))
    const time = (await readManifest(staging))?.time
    const report = await withProgress('Checking the store', say =>
      checkStore(join(staging, 'store'), entries => say(`Checking the store: ${entries} entries`)),
    )
    await beginEpoch(join(staging, 'store'))
    await rm(join(staging, manifestName))
    await replace(dataDirectory, staging)
    process.stderr.write(
      `Restored ${report.values} values of ${shortLineText(time)} to ${dataDirectory}.\n${warningOf(report)}`,
    )
  } catch (error) {
    throw restoreError(error)
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 10 })
  }
}

function restoreError(error: unknown): unknown {
  if (error instanceof StoreError) return new StartError(`The backup cannot be used: ${error.message}.`)
  if (codeOf(error) === '') return error
  return new StartError(`The backup cannot be restored: ${shortLineText((error as Error).message)}.`)
}

const warningOf = ({ damaged }: StoreReport): string =>
  damaged
    .map(key => `Warning: the value of ${shortLineText(key)} was damaged when it was backed up.\n`)
    .join('')

async function checkIsEmpty(directory: string): Promise<void> {
  const found = await readdir(directory).catch(error => {
    if (codeOf(error) === 'ENOENT') return []
    throw new StartError(`${directory} cannot be read (${codeOf(error)}): choose another --data-directory.`)
  })
  if (found.length > 0)
    throw new StartError(
      `${directory} has files in it: move it away, or choose another directory with --data-directory.`,
    )
}

/** A directory on the same disk, so that it becomes the data directory by a rename. */
async function stagingFor(directory: string): Promise<string> {
  const parent = dirname(resolve(directory))
  try {
    await mkdir(parent, { recursive: true })
    return await mkdtemp(join(parent, '.oriel-restore-'))
  } catch (error) {
    throw new StartError(`${parent} cannot be written (${codeOf(error)}): choose another --data-directory.`)
  }
}

/** Regular files below the directory only: a backup may come from anywhere. */
async function unpack(input: string, staging: string): Promise<void> {
  const source = input === '-' ? process.stdin : createReadStream(input)
  let entries = 0
  const target = extract({
    cwd: staging,
    strict: true,
    dmode: 0o700,
    filter: (_path, entry) => {
      entries++
      if (!('type' in entry) || (entry.type !== 'File' && entry.type !== 'Directory')) return false
      // For the owner only, and without the bits that give a program the rights of another user.
      entry.mode = entry.type === 'File' ? 0o600 : 0o700
      return true
    },
  })
  const problem = await pipeline(source, target).then(
    () => manifestProblem(staging),
    (error: unknown) => readProblem(error, entries),
  )
  if (problem !== undefined)
    throw new StartError(
      `The backup ${input === '-' ? 'on standard input' : input} cannot be used: ${problem}.`,
    )
}

/** Why reading failed, after so many files and directories of the backup. */
function readProblem(error: unknown, entries: number): string {
  if (codeOf(error) === 'EISDIR') return 'it is a directory'
  if (codeOf(error) === 'ENOENT') return 'there is no such file'
  const text = shortLineText(error instanceof Error ? error.message : error)
  if (!/^(TAR|Z)_/.test(codeOf(error))) return text
  return entries === 0 ? 'it is no file of oriel backup' : `it is cut off or damaged (${text})`
}

async function replace(directory: string, staging: string): Promise<void> {
  await rmdir(directory).catch(() => undefined)
  await rename(staging, directory)
}
