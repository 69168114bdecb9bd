import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
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
  readonly files: readonly PackedFile[]
}

interface PackedFile {
  readonly path: string
  readonly size: number
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
 * exit. Their files are executed, so only directories that no other user can write are used, and files that differ from those of
 * the executable are replaced. Throws the `Error` of the file system if neither directory can be written.
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
    if (!isIntact(folder, unpacking)) moveTo(folder, write(unpacking, own), unpacking)
    return isPrivate(lstatSync(folder)) ? folder : undefined
  } catch {
    // A read-only or full file system, for example.
    return undefined
  }
}

/** The directory, which is made if it is missing; undefined if another user can write it. */
function privateFolder(path: string): string | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const real = realpathSync(path)
  const stat = lstatSync(real)
  return stat.isDirectory() && isPrivate(stat) && above(real).every(isGuarded) ? real : undefined
}

/** The directories above. */
function above(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...above(parent)]
}

/** Whether no other user can put something else in place of what this user has in the directory. */
function isGuarded(path: string): boolean {
  const stat = lstatSync(path)
  return isPrivate({ uid: stat.uid, mode: isSticky(stat) ? 0 : stat.mode })
}

const isSticky = ({ mode }: Stats): boolean => (mode & 0o1000) !== 0

/** Whether no other user but root can write it. */
function isPrivate({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): boolean {
  const user = process.getuid?.()
  // Windows has no user identifiers, and its caches are private.
  return user === undefined || ((uid === user || uid === 0) && (mode & 0o022) === 0)
}

/** Whether the folder has the files of the executable and nothing else, byte for byte, because they are executed. */
function isIntact(folder: string, unpacking: Unpacking): boolean {
  const own = lstatSync(folder, { throwIfNoEntry: false })
  if (own === undefined || !own.isDirectory() || !isPrivate(own)) return false
  const expected = unpacking.packed.files.flatMap(({ path }) => withFolders(path))
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  if (found.length !== new Set(expected).size) return false
  return (
    found.every(path => isPrivate(lstatSync(join(folder, path)))) &&
    unpacking.packed.files.every(file => hasContent(folder, file, unpacking.read))
  )
}

/** `a/b/c` with `a` and `a/b`. */
const withFolders = (path: string): readonly string[] =>
  path.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'))

function hasContent(folder: string, { path, size }: PackedFile, read: Unpacking['read']): boolean {
  const file = join(folder, path)
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat?.isFile() !== true || stat.size !== size) return false
  return readFileSync(file).equals(read(path))
}

/** Writes all files into a new directory that only this user can read. */
function write({ packed, read }: Unpacking, parent: string): string {
  const folder = mkdtempSync(join(parent, 'oriel-'))
  try {
    const built = new Date(packed.builtAt)
    for (const { path } of packed.files) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      // Flushed: after a power failure a file of the right size could be empty otherwise, and it would be executed.
      writeFileSync(file, read(path), { flush: true, mode: 0o600 })
      utimesSync(file, built, built)
    }
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Another process may have written the same files meanwhile. */
function moveTo(folder: string, from: string, unpacking: Unpacking): void {
  try {
    renameSync(from, folder)
  } catch {
    const isThere = isIntact(folder, unpacking)
    rmSync(isThere ? from : folder, { recursive: true, force: true })
    if (!isThere) renameSync(from, folder)
  }
}
