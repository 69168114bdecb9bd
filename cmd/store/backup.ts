import { createWriteStream, statSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { create } from 'tar'
import { copyStore } from '../../shard/store/lmdb/offline.ts'
import { StoreError } from '../../shard/store/store.ts'
import { version } from '../files/build.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import { withProgress } from '../process/progress.ts'
import { type BackupManifest, filesIn, manifestName } from './manifest.ts'
import { type StoreFlags, sizeText, storeFile, storeIn } from './place.ts'

export interface BackupFlags extends StoreFlags {
  /** A path, or `-`. */
  readonly output: string
}

/** `oriel backup`. Throws `StartError` for a directory without a store, and an output that cannot be written. */
export async function backup(flags: BackupFlags): Promise<void> {
  const { output } = flags
  if (output === '-' && process.stdout.isTTY)
    throw new StartError('A backup is not text: give --output a file, or redirect standard output.')
  if (output !== '-' && isWithin(flags.dataDirectory, output))
    throw new StartError(`${output} is in the data directory, which is backed up: choose another --output.`)
  if (statSync(output, { throwIfNoEntry: false })?.isDirectory())
    throw new StartError(`${output} is a directory: give --output the name of a file.`)
  const staging = await stagingFor(output)
  try {
    const manifest = await withProgress('Copying the store', say => stage(flags, staging, say))
    await withProgress('Writing the backup', () => pack(staging, manifest, output))
    process.stderr.write(
      `Backed up ${summaryOf(manifest)} to ${output === '-' ? 'standard output' : output}.\n`,
    )
  } catch (error) {
    throw backupError(error)
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 10 })
  }
}

function backupError(error: unknown): unknown {
  if (error instanceof StoreError) return new StartError(`${error.message}.`)
  if (codeOf(error) === '') return error
  return new StartError(`The data directory cannot be backed up: ${(error as Error).message}.`)
}

const isWithin = (directory: string, path: string): boolean =>
  !relative(resolve(directory), resolve(path)).startsWith('..')

const summaryOf = ({ revision, files }: BackupManifest): string =>
  `resourceVersion ${revision}, ${files.length} files, ${sizeText(files.reduce((sum, { bytes }) => sum + bytes, 0))}`

/** A private directory on the disk of the output. */
async function stagingFor(output: string): Promise<string> {
  const parent = output === '-' ? tmpdir() : dirname(resolve(output))
  try {
    return await mkdtemp(join(parent, '.oriel-backup-'))
  } catch (error) {
    throw new StartError(`${parent} cannot be written (${codeOf(error)}): choose another --output.`)
  }
}

/** Copies the store, then all other files of the data directory, and describes them. */
async function stage(
  flags: BackupFlags,
  staging: string,
  say: (text: string) => void,
): Promise<BackupManifest> {
  const source = storeIn(flags)
  const target = join(staging, 'store')
  await mkdir(target, { mode: 0o700 })
  const followed = follow(storeFile(source), storeFile(target), say)
  const { revision } = await copyStore(source, target).finally(() => clearInterval(followed))
  await copyFiles(flags.dataDirectory, source, staging)
  const described = { kind: 'OrielBackup', version: 1, oriel: version() } as const
  return { ...described, time: new Date().toISOString(), revision, files: await filesIn(staging) }
}

/** Shows how much of the store is copied; the copy may be smaller. */
function follow(source: string, target: string, say: (text: string) => void): NodeJS.Timeout {
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return setInterval(
    () => say(`Copying the store: ${sizeText(sizeOf(target))} of ${sizeText(sizeOf(source))}`),
    200,
  )
}

/** Keys, certificates and tokens, also those that are links. Sockets and pipes have no contents. */
const copyFiles = (directory: string, store: string, staging: string): Promise<void> =>
  cp(directory, staging, {
    recursive: true,
    dereference: true,
    filter: source => {
      const found = statSync(source)
      return resolve(source) !== resolve(store) && (found.isFile() || found.isDirectory())
    },
  })

/** The manifest comes last. The file gets its name when it is complete. */
async function pack(staging: string, manifest: BackupManifest, output: string): Promise<void> {
  const paths = [...manifest.files.map(({ path }) => path), manifestName]
  await writeFile(join(staging, manifestName), JSON.stringify(manifest, undefined, 2), { mode: 0o600 })
  const archive = create({ cwd: staging, portable: true, gzip: output.endsWith('.gz') }, paths)
  if (output === '-') return pipeline(archive, process.stdout)
  const unfinished = join(staging, 'archive')
  try {
    await pipeline(archive, createWriteStream(unfinished, { mode: 0o600, flush: true }))
    await rename(unfinished, output)
  } catch (error) {
    throw new StartError(
      `${output} cannot be written (${codeOf(error)}): make room, or choose another --output.`,
    )
  }
}
