import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { shortLineText } from '../files/terminaltext.ts'

/** The last file of a backup: a backup without it was cut off. */
export const manifestName = 'oriel-backup.json'

/** What a backup has in it. */
export interface BackupManifest {
  readonly kind: 'OrielBackup'
  readonly version: 1
  /** The version of the program. */
  readonly oriel: string
  /** RFC 3339. */
  readonly time: string
  /** The newest resourceVersion. */
  readonly revision: number
  readonly files: readonly BackupFile[]
}

/** A file by its path in the data directory. */
export interface BackupFile {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

/** The files below a directory, sorted by path. */
export async function filesIn(directory: string): Promise<readonly BackupFile[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const files: BackupFile[] = []
  // One after another: a process may have few open files.
  for (const path of paths.sort()) files.push(await fileOf(directory, path))
  return files
}

async function fileOf(directory: string, path: string): Promise<BackupFile> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return {
    path: relative(directory, path),
    bytes: (await stat(path)).size,
    sha256: hash.digest('hex'),
  }
}

/** What differs between the files of a directory and its manifest, in one sentence; undefined when nothing does. */
export async function manifestProblem(directory: string): Promise<string | undefined> {
  const manifest = await readManifest(directory)
  if (manifest === undefined)
    return `it has no ${manifestName}: it was cut off, or another program has written it`
  const { version, files } = manifest
  if (version !== 1)
    return `its format is version ${JSON.stringify(version)}, and this program reads version 1`
  if (!isListOfFiles(files)) return `its ${manifestName} has no list of files`
  const found = (await filesIn(directory)).filter(({ path }) => path !== manifestName)
  const known = new Map(files.map(file => [file.path, file]))
  const differs = found.find(({ path, sha256 }) => known.get(path)?.sha256 !== sha256)
  if (differs !== undefined)
    return `its file ${shortLineText(differs.path)} is not the one that was backed up`
  return found.length < files.length ? 'files are missing in it' : undefined
}

const isListOfFiles = (files: unknown): boolean =>
  Array.isArray(files) &&
  files.every(file => typeof file?.path === 'string' && typeof file.sha256 === 'string')

/** Bytes: the description of some hundred thousand files. */
const longestManifest = 64 * 1024 * 1024

/** The manifest in a directory; undefined when there is none. */
export async function readManifest(directory: string): Promise<BackupManifest | undefined> {
  const path = join(directory, manifestName)
  try {
    if ((await stat(path)).size > longestManifest) return undefined
    const manifest = JSON.parse(await readFile(path, 'utf8'))
    return manifest?.kind === 'OrielBackup' ? manifest : undefined
  } catch {
    return undefined
  }
}
