import { pacedMap } from '../../framework/async/awaitable.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import type { Shard } from '../../kcp/core.ts'
import { rootCluster } from '../../kcp/logicalclusters.ts'
import { dumpsPath, entriesAnnotation, entriesFormat, type LogicalClusterDump } from '../../kcp/migration.ts'
import { entryFromKcp, type StoredEntry } from '../entries/fromkcp.ts'
import { entryFromOriel } from '../entries/fromoriel.ts'
import { peerNamed, unknownShard } from './shards.ts'
import { clusterOf, type MigrationStep } from './step.ts'

/** Milliseconds for a page of entries. */
const longest = 30_000

/** A page of the entries of a logical cluster, as this shard stores them. */
export interface EntryPage {
  readonly entries: readonly StoredEntry[]
  /** The token of the next page; '' on the last one. */
  readonly next: string
  /** The last revision of the origin. */
  readonly last: number
  /** The origin is a shard of kcp: there are no definitions of bound resources among the entries. */
  readonly isOfKcp: boolean
}

/**
 * Asks the origin for the page after a token. Throws for an entry of another logical cluster, and for one that this shard cannot
 * store.
 */
export async function requestedPage(step: MigrationStep, after: string): Promise<EntryPage> {
  const { metadata, status = {} } = await requested(step, after)
  const { entries = [], continue: next = '' } = status
  const cluster = clusterOf(step)
  // A shard of kcp sends the metadata of the request back.
  const isOurs = metadata?.annotations?.[entriesAnnotation] === entriesFormat
  if (isOurs && metadata.resourceVersion) {
    const identities = new Set(Object.values(step.deps.tenancy).map(({ identity }) => identity))
    const own = await pacedMap(entries, entry => entryFromOriel({ cluster, identities }, entry))
    return { entries: own, next, last: Number(metadata.resourceVersion), isOfKcp: false }
  }
  const translated = entries.map(entry => entryFromKcp(cluster, entry))
  return { entries: translated, next, last: await revisionOf(originOf(step)), isOfKcp: true }
}

const originOf = ({ deps, migration }: MigrationStep): PeerClient =>
  peerNamed(deps.peers, migration.status?.originShard ?? '')

async function requested(step: MigrationStep, after: string): Promise<LogicalClusterDump> {
  const dump = {
    apiVersion: 'migration.kcp.io/v1alpha1',
    kind: 'LogicalClusterDump',
    metadata: { annotations: { [entriesAnnotation]: entriesFormat } },
    spec: { continue: after },
  }
  const path = `/services/migratingworkspaces/clusters/${clusterOf(step)}${dumpsPath}`
  const ask = (peer: PeerClient): Promise<LogicalClusterDump> =>
    peer.post<LogicalClusterDump>(path, dump, AbortSignal.timeout(longest))
  const { connectViews } = step.deps
  if (connectViews === undefined) return ask(originOf(step))
  const views = connectViews(viewsOf(step))
  try {
    return await ask(views)
  } finally {
    await views.close()
  }
}

/** The URL of the views of the origin. */
function viewsOf({ deps: { informers, tenancy }, migration }: MigrationStep): string {
  const name = migration.status?.originShard ?? ''
  const shard = informers.for(tenancy.shards).get(rootCluster, '', name)?.object as Shard | undefined
  const url = shard?.spec?.virtualWorkspaceURL || shard?.spec?.baseURL
  if (!url) throw new Error(unknownShard(name))
  return url.replace(/\/+$/, '')
}

interface Listed {
  readonly metadata: { readonly resourceVersion?: string }
}

/** The revision of a shard of kcp now, which its dumps do not have: all its objects are in one etcd. */
async function revisionOf(peer: PeerClient): Promise<number> {
  const all = '/clusters/*/apis/core.kcp.io/v1alpha1/logicalclusters?limit=1'
  const { metadata } = await peer.get<Listed>(all, AbortSignal.timeout(longest))
  const revision = Number(metadata.resourceVersion)
  if (revision > 0) return revision
  throw new Error('the response of the origin has no revision')
}
