import { type FileHandle, open } from 'node:fs/promises'

// The two meta pages at the start of an LMDB file, data version 2 on 64 bits: offsets within a page.
const magicAt = 24
const magic = 0xbeefc0de
const pageSizeAt = 48
const lastPageAt = 144
const transactionAt = 152
const metaLength = 160

interface MetaPage {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: bigint
}

async function metaPage(file: FileHandle, at: number): Promise<MetaPage | undefined> {
  const page = Buffer.alloc(metaLength)
  const { bytesRead } = await file.read(page, 0, metaLength, at)
  if (bytesRead < metaLength || page.readUInt32LE(magicAt) !== magic) return undefined
  return {
    pageSize: page.readUInt32LE(pageSizeAt),
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

/**
 * Whether LMDB can open a file safely: it maps the file without checks, so any other file crashes the process, and so
 * does reading behind the end of a truncated one. For writers, a truncated file is extended with zeros, which LMDB reports
 * as damage when it reads them, and missing and empty files are valid. Throws `ENOENT` for readers.
 */
export async function isDataFile(path: string, mode: 'read' | 'write'): Promise<boolean> {
  const file = await open(path, mode === 'read' ? 'r' : 'a+')
  try {
    const { size } = await file.stat()
    if (size === 0) return mode === 'write'
    const meta = await newestMeta(file)
    if (meta === undefined) return false
    const needed = (meta.lastPage + 1) * meta.pageSize
    // After the meta pages: a server may have extended the file before it wrote them.
    if ((await file.stat()).size >= needed) return true
    if (mode === 'write') await file.truncate(needed)
    return mode === 'write'
  } finally {
    await file.close()
  }
}
