import type { FileHandle } from 'node:fs/promises'

/** The pages of a transaction in an LMDB file. */
export interface PageTree {
  readonly pageSize: number
  /** Page numbers of the trees of free pages and of tables. */
  readonly roots: readonly bigint[]
}

/** Consecutive pages; only a single one may refer to others. */
interface Pages {
  readonly first: bigint
  readonly count: bigint
}

// Offsets of LMDB's data version 2 on 64 bits (mdb.c MDB_page, MDB_node, MDB_ovpage, MDB_db).
const page = { flags: 18, lower: 20, header: 24 }
const node = { flags: 4, keySize: 6, key: 8 }
const overflow = { first: 0, count: 16 }
const rootOfTable = 40

const isBranch = 0x01
const isLeaf = 0x02
const isOverflow = 0x01
const isTable = 0x02
/** The root of an empty tree. */
const none = 0xffff_ffff_ffff_ffffn

/** Whether a file has all pages in use. It may be shorter than its transaction says where only unused ones are missing. */
export async function hasAllPages(file: FileHandle, { pageSize, roots }: PageTree): Promise<boolean> {
  const { size } = await file.stat()
  const pending: Pages[] = roots.map(single)
  const bytes = Buffer.alloc(pageSize)
  // A damaged file may have circles.
  let left = size / pageSize
  for (let pages = pending.pop(); pages !== undefined; pages = pending.pop()) {
    const { first, count } = pages
    if (first === none) continue
    if ((first + count) * BigInt(pageSize) > BigInt(size)) return false
    if (count > 1n) continue
    if (left-- < 0) return false
    await file.read(bytes, 0, pageSize, Number(first) * pageSize)
    pending.push(...referencesOf(bytes))
  }
  return true
}

const single = (first: bigint): Pages => ({ first, count: 1n })

function referencesOf(bytes: Buffer): readonly Pages[] {
  const flags = bytes.readUInt16LE(page.flags)
  const isTree = (flags & (isBranch | isLeaf)) !== 0
  const count = isTree ? bytes.readUInt16LE(page.lower) >> 1 : 0
  return Array.from({ length: count }, (_, i) => {
    const at = page.header + bytes.readUInt16LE(page.header + 2 * i)
    return (flags & isBranch) !== 0 ? [child(bytes, at)] : leafReferences(bytes, at)
  }).flat()
}

/** The page number has 48 bits. */
const child = (bytes: Buffer, at: number): Pages => single(BigInt(bytes.readUIntLE(at, 6)))

function leafReferences(bytes: Buffer, at: number): readonly Pages[] {
  const flags = bytes.readUInt16LE(at + node.flags)
  const data = at + node.key + bytes.readUInt16LE(at + node.keySize)
  if ((flags & isTable) !== 0) return [single(bytes.readBigUInt64LE(data + rootOfTable))]
  if ((flags & isOverflow) === 0) return []
  const count = bytes.readBigUInt64LE(data + overflow.count)
  return [{ first: bytes.readBigUInt64LE(data + overflow.first), count }]
}
