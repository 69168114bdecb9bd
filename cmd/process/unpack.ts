import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The files of the program within a single executable file, as `scripts/executable.mjs` lists them. */
export interface PackedFiles {
  /** The SHA-256 of their contents. */
  readonly digest: string
  /** RFC 3339. */
  readonly builtAt: string
  /** Paths relative to the root of the package, with `/`; sizes in bytes. */
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

export interface Unpacking {
  readonly packed: PackedFiles
  readonly read: (path: string) => Uint8Array
  /** The directory of the user's caches (XDG Base Directory Specification). */
  readonly cache: string | undefined
}

/** `$XDG_CACHE_HOME`, or `.cache` in the user's home; undefined for a user without a home. */
export function cacheHome(): string | undefined {
  try {
    return process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  } catch {
    return undefined
  }
}

/**
 * The directory with the files: one in the user's caches, which later starts use again, or a temporary one that is removed at
 * exit. Only directories that no other user can write are used, because their files are executed. Throws the `Error` of the file
 * system if neither can be written.
 */
export function unpack(unpacking: Unpacking): string {
  const kept = keptFolder(unpacking)
  if (kept !== undefined) return kept
  const folder = write(unpacking, tmpdir())
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function keptFolder(unpacking: Unpacking): string | undefined {
  const { cache, packed } = unpacking
  if (cache === undefined) return undefined
  try {
    const home = privateFolder(cache)
    const own = home && privateFolder(join(home, 'oriel'))
    if (own === undefined) return undefined
    const folder = join(own, packed.digest)
    if (!isComplete(folder, packed)) moveTo(folder, write(unpacking, own), packed)
    return isPrivate(folder) ? folder : undefined
  } catch {
    // A read-only or full file system, for example.
    return undefined
  }
}

/** The directory, which is made if it is missing; undefined if another user can write it. */
function privateFolder(path: string): string | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const real = realpathSync(path)
  return isPrivate(real) ? real : undefined
}

function isPrivate(path: string): boolean {
  const stat = lstatSync(path)
  const user = process.getuid?.()
  // Windows has no user identifiers, and its caches are private.
  if (user === undefined) return stat.isDirectory()
  return stat.isDirectory() && (stat.uid === user || stat.uid === 0) && (stat.mode & 0o022) === 0
}

const isComplete = (folder: string, { files }: PackedFiles): boolean =>
  files.every(({ path, size }) => statSync(join(folder, path), { throwIfNoEntry: false })?.size === size)

/** Writes all files into a new directory that only this user can read. */
function write({ packed, read }: Unpacking, parent: string): string {
  const folder = mkdtempSync(join(parent, 'oriel-'))
  try {
    const built = new Date(packed.builtAt)
    for (const { path } of packed.files) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      // Flushed: after a power failure a file of the right size could be empty otherwise, and it would be executed.
      writeFileSync(file, read(path), { flush: true })
      utimesSync(file, built, built)
    }
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Another process may have written the same files meanwhile. */
function moveTo(folder: string, from: string, packed: PackedFiles): void {
  try {
    renameSync(from, folder)
  } catch {
    if (!isComplete(folder, packed)) {
      rmSync(folder, { recursive: true, force: true })
      renameSync(from, folder)
    } else rmSync(from, { recursive: true, force: true })
  }
}
