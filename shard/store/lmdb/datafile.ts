import { type FileHandle, link, open, rm, writeFile } from 'node:fs/promises'
import { hasAllPages, type PageTree } from './pagetree.ts'

// The two meta pages at the start of an LMDB file, data version 2 on 64 bits: offsets within a page.
const magicAt = 24
const magic = 0xbeefc0de
const pageSizeAt = 48
const freeRootAt = 88
const mainRootAt = 136
const lastPageAt = 144
const transactionAt = 152
const metaLength = 160

interface MetaPage extends PageTree {
  readonly lastPage: number
  readonly transaction: bigint
}

async function metaPage(file: FileHandle, at: number): Promise<MetaPage | undefined> {
  const page = Buffer.alloc(metaLength)
  const { bytesRead } = await file.read(page, 0, metaLength, at)
  if (bytesRead < metaLength || page.readUInt32LE(magicAt) !== magic) return undefined
  return {
    pageSize: page.readUInt32LE(pageSizeAt),
    roots: [page.readBigUInt64LE(freeRootAt), page.readBigUInt64LE(mainRootAt)],
    lastPage: Number(page.readBigUInt64LE(lastPageAt)),
    transaction: page.readBigUInt64LE(transactionAt),
  }
}

/** The newer of the two meta pages; undefined when neither is valid. */
async function newestMeta(file: FileHandle): Promise<MetaPage | undefined> {
  const first = await metaPage(file, 0)
  const second = first === undefined ? undefined : await metaPage(file, first.pageSize)
  if (first === undefined || second === undefined) return undefined
  return second.transaction > first.transaction ? second : first
}

/** Bytes of a lock file: more than LMDB needs for its 126 readers. */
const lockSize = 16 * 1024

/**
 * Makes the lock file of a data file with room on the disk, if it is missing: LMDB makes one without and maps it, and where the disk is
 * full the first write there ends the process. Never changes one that another process may use. Throws `ENOSPC` and `EDQUOT`.
 */
export async function allocateLock(path: string): Promise<void> {
  const unnamed = `${path}-lock.${process.pid}`
  try {
    await writeFile(unnamed, Buffer.alloc(lockSize), { mode: 0o600 })
    await link(unnamed, `${path}-lock`)
  } catch (error) {
    // Others are that of a directory that is not writable, of another process that was faster, and of a file system without links.
    if (error instanceof Error && 'code' in error && full.includes(String(error.code))) throw error
  } finally {
    await rm(unnamed, { force: true }).catch(() => undefined)
  }
}

const full = ['ENOSPC', 'EDQUOT']

/**
 * Why LMDB cannot open a file safely, as a predicate; undefined: it can. It maps the file without checks, so any other file crashes
 * the process, and so does reading behind the end of a truncated one. For writers, a file that lacks unused pages at its end is
 * extended, and missing and empty files are valid. Throws `ENOENT` for readers.
 */
export async function whyUnusable(path: string, mode: 'read' | 'write'): Promise<string | undefined> {
  const file = await open(path, mode === 'read' ? 'r' : 'a+')
  try {
    const { size } = await file.stat()
    if (size === 0 && mode === 'write') return undefined
    const meta = await newestMeta(file)
    if (meta === undefined) return 'is not a data file'
    const needed = (meta.lastPage + 1) * meta.pageSize
    // After the meta pages: a server may have extended the file before it wrote them.
    if ((await file.stat()).size >= needed) return undefined
    if (mode === 'read' || !(await hasAllPages(file, meta))) return 'is cut off'
    await file.truncate(needed)
    return undefined
  } finally {
    await file.close()
  }
}
