import { StoreError } from '../store.ts'
import { CommitLog } from './commitlog.ts'
import { type EtcdAccess, EtcdConnection } from './connection.ts'
import { failureOf, openError } from './failures.ts'
import { Fence } from './fence.ts'
import { EtcdCompacted, followKeys } from './following.ts'
import { type EtcdTarget, headOf } from './head.ts'
import {
  type EtcdInstallation,
  markComplete,
  type OpeningInstallation,
  openInstallation,
} from './installation.ts'
import { layoutOf } from './layout.ts'
import { SeenLog, type SeenPlace } from './seen.ts'
import { SharedStore } from './sharedstore.ts'

export interface EtcdOptions extends EtcdAccess {
  /** The prefix of all keys, such as `/oriel`. */
  readonly prefix: string
  /** Milliseconds between two compactions, and the least time that history is kept; 0: this server compacts nothing. */
  readonly compactEvery: number
  /** Bytes of changes that are kept, also if they are younger; 1 GiB when absent. */
  readonly mostHistory?: number
  /** Revisions of before the opening that are readable at most; 10,000 when absent. */
  readonly mostRevisions?: number
  /**
   * The newest revision of another store: the new installation becomes a copy of it, with higher revisions. It is incomplete
   * until `completeInstallation`.
   */
  readonly copyOf?: number
  /** Where this server keeps what it has seen, to notice that etcd was restored; absent: nowhere. */
  readonly seen?: SeenPlace
}

/** etcd sends 1,000 revisions of the past to a watch, and the next 1,000 after 100 ms. */
const revisionsInOneSecond = 10_000

/** Opens the installation below the prefix, and creates it if needed. Throws `StoreError`. */
export async function openEtcdStore(options: EtcdOptions): Promise<SharedStore> {
  const connection = new EtcdConnection(options)
  const layout = layoutOf(options.prefix)
  try {
    const installation = await openInstallation(connection, layout, await openingOf(options))
    const { offset, record } = installation
    const target = {
      connection,
      layout,
      offset,
      record,
      fence: new Fence(connection, layout, record),
      commits: new CommitLog(connection, layout),
      seen: new SeenLog({ installation, place: options.seen }),
    }
    return await openShared(target, installation, options)
  } catch (error) {
    connection.close()
    throw error instanceof StoreError ? error : openError(failureOf(error), options.endpoints)
  }
}

/** Lets servers use an installation that was opened with `copyOf`. Throws `StoreError`. */
export async function completeInstallation(options: EtcdOptions): Promise<void> {
  const connection = new EtcdConnection(options)
  try {
    await markComplete(connection, layoutOf(options.prefix))
  } catch (error) {
    throw error instanceof StoreError ? error : openError(failureOf(error), options.endpoints)
  } finally {
    connection.close()
  }
}

const openingOf = async ({ copyOf, seen }: EtcdOptions): Promise<OpeningInstallation> => ({
  ...(copyOf !== undefined && { copyOf }),
  seen: await seen?.read(),
})

async function openShared(
  target: EtcdTarget,
  installation: EtcdInstallation,
  { compactEvery, mostHistory, mostRevisions = revisionsInOneSecond }: EtcdOptions,
): Promise<SharedStore> {
  const { modified } = await headOf(target)
  const compacted = Math.max(installation.floor, modified - mostRevisions, await compactedBy(target))
  const state = { compacted, revision: Math.max(compacted, modified) }
  return new SharedStore(target, { installation, ...state, compactEvery, mostHistory })
}

/** The revision up to which etcd is compacted: only a watch from the beginning tells. */
async function compactedBy({ connection, layout: { installation } }: EtcdTarget): Promise<number> {
  const range = [installation, Buffer.concat([installation, Buffer.alloc(1)])] as const
  const following = { range, after: 0, resuming: () => Promise.resolve() }
  try {
    // The installation was written, so there is an event.
    await followKeys(connection, following, AbortSignal.timeout(10_000)).next()
    return 0
  } catch (error) {
    if (error instanceof EtcdCompacted) return error.revision
    throw error
  }
}
