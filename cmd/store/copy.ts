import { mkdir, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type CopiedValues, copyValues } from '../../shard/store/copying.ts'
import { completeInstallation, openEtcdStore } from '../../shard/store/etcd/etcd.ts'
import { openLmdbStore } from '../../shard/store/lmdb/lmdb.ts'
import { beginEpoch } from '../../shard/store/lmdb/offline.ts'
import { type Store, StoreError } from '../../shard/store/store.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import { etcdOptions, openStore } from '../files/store.ts'
import type { EtcdAccessPrefix } from '../flags/etcd.ts'
import { withProgress } from '../process/progress.ts'
import { sizeText, storeFile } from './place.ts'

export interface CopyFlags extends EtcdAccessPrefix {
  readonly from: string
  readonly to: string
}

/**
 * `oriel store copy`: between a directory and etcd, or two directories. Servers of the source are stopped. A copy that was cut
 * off is not used by any server. Throws `StartError`.
 */
export async function copy(flags: CopyFlags): Promise<void> {
  const { from, to } = flags
  checkPlaces(flags)
  try {
    const copied = await withProgress('Copying the store', say => copyBetween(flags, say))
    process.stderr.write(
      `Copied ${copied.values} values, ${sizeText(copied.bytes)}, from ${from} to ${to}, and compared them.\n`,
    )
  } catch (error) {
    throw error instanceof StoreError ? new StartError(`${error.message.replace(/\.$/, '')}.`) : error
  }
}

function checkPlaces({ from, to }: CopyFlags): void {
  if (from === 'memory:' || to === 'memory:')
    throw new StartError(
      'A store in memory cannot be copied: give --from and --to directories or addresses of etcd.',
    )
  if (isEtcd(from) && isEtcd(to))
    throw new StartError(
      'One of --from and --to must be a directory: use "etcdctl snapshot" to copy one etcd to another.',
    )
}

async function copyBetween(flags: CopyFlags, say: (text: string) => void): Promise<CopiedValues> {
  const { from, to } = flags
  if (!isEtcd(from)) await checkHasStore(from)
  const source = await openStore(from, { ...flags, etcdCompactionInterval: 0 })
  try {
    return await (isEtcd(to) ? toEtcd(flags, source, say) : toDirectory(to, source, say))
  } finally {
    await source.close()
  }
}

/** The directory is opened by its file, which is created if it is missing. */
async function checkHasStore(directory: string): Promise<void> {
  const files = await readdir(directory).catch(() => [])
  if (!files.some(name => storeFile(directory).endsWith(`/${name}`)))
    throw new StartError(
      `there is no store in ${directory}: give --from the directory of a store, such as .oriel/store.`,
    )
}

const saying = (say: (text: string) => void) => ({
  copied: (values: number) => say(`Copying the store: ${values.toLocaleString('en')} values`),
  compared: (values: number) => say(`Comparing the copy: ${values.toLocaleString('en')} values`),
})

/** The installation is incomplete until the copy is compared: no server uses it. */
async function toEtcd(flags: CopyFlags, source: Store, say: (text: string) => void): Promise<CopiedValues> {
  const options = { ...(await etcdOptions(flags.to, flags)), compactEvery: 0 }
  const target = await openEtcdStore({ ...options, copyOf: source.revision })
  try {
    const copied = await copyValues(source, target, saying(say))
    await completeInstallation(options)
    return copied
  } finally {
    await target.close()
  }
}

/** The directory gets its name when the copy is compared. */
async function toDirectory(to: string, source: Store, say: (text: string) => void): Promise<CopiedValues> {
  const staging = await stagingFor(to)
  try {
    await openLmdbStore(staging).then(empty => empty.close())
    await beginEpoch(staging, source.revision)
    const copied = await fill(staging, source, say)
    await rmdir(to).catch(() => undefined)
    await rename(staging, to)
    return copied
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Without history: clients with revisions of the source list again. */
async function fill(staging: string, source: Store, say: (text: string) => void): Promise<CopiedValues> {
  const target = await openLmdbStore(staging)
  try {
    const copied = await copyValues(source, target, saying(say))
    await target.compact(target.revision)
    return copied
  } finally {
    await target.close()
  }
}

async function stagingFor(to: string): Promise<string> {
  const found = await readdir(to).catch(() => [])
  if (found.length > 0)
    throw new StartError(`${to} has files in it: move it away, or choose another directory with --to.`)
  const parent = dirname(resolve(to))
  try {
    await mkdir(parent, { recursive: true, mode: 0o700 })
    return await mkdtemp(join(parent, '.oriel-copy-'))
  } catch (error) {
    throw new StartError(
      `${parent} cannot be written (${codeOf(error)}): choose another directory with --to.`,
    )
  }
}
