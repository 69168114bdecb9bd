import { decodeObject } from '../../framework/wire/encode.ts'
import {
  incomingAnnotation,
  migratingAnnotation,
  movedAnnotation,
  shardAnnotation,
} from '../../kcp/annotations.ts'
import { findCondition, isFalse, isTrue } from '../../kcp/conditions.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { boundCRDsCluster } from '../../kcp/logicalclusters.ts'
import {
  type DumpEntry,
  dumpsPath,
  entriesAnnotation,
  entriesFormat,
  type LogicalClusterDump,
} from '../../kcp/migration.ts'
import { movedText } from '../apis/moved.ts'
import { decodeStored, encodeStored, parseStorageKey, registryPrefix } from '../cache/codec.ts'
import type { StoreChange, StoredValue } from '../store/store.ts'
import {
  annotated,
  batch,
  changeOf,
  isIncoming,
  keyOfCluster,
  movesFor,
  rawCluster,
  transferAll,
} from './rawcluster.ts'
import { annotationOf, clusterOf, type MigrationStep, report, tryAgain, uidOf } from './step.ts'
import { assignWorkspace } from './workspace.ts'

/** Milliseconds for a page of entries. */
const longest = 30_000

/**
 * Copies one page of entries from the origin (kcp `reconcileMigrating`). They wait beside the objects of the shard, where no
 * request and no controller sees them; only the LogicalCluster is stored at once, closed, so that requests wait here, too.
 */
export async function copyPage(step: MigrationStep): Promise<number | undefined> {
  const { dumpContinue = '', entriesCopied = 0 } = step.migration.status ?? {}
  if (dumpContinue === '') await discardWaiting(step.deps, uidOf(step))
  const page = await requested(step, dumpContinue).catch((error: Error) => error)
  if (page instanceof Error) return refused(step, page)
  const { entries = [], continue: next = '' } = page.status ?? {}
  const last = Number(page.metadata.resourceVersion)
  const changes = entries.map(entry => changeFor(step, entry, last))
  await transferAll(
    step.deps.content,
    changes.map(change => [change]),
  )
  const copied = entriesCopied + entries.length
  if (next === '') await takeOver(step, copied)
  else await report(step, { entriesCopied: copied, dumpContinue: next })
  return undefined
}

async function requested(step: MigrationStep, after: string): Promise<LogicalClusterDump> {
  const origin = step.migration.status?.originShard ?? ''
  const peer = step.deps.peers.get(origin)
  if (peer === undefined) throw new Error(`shard ${origin} is not known or not reachable`)
  const dump = {
    apiVersion: 'migration.kcp.io/v1alpha1',
    kind: 'LogicalClusterDump',
    metadata: { annotations: { [entriesAnnotation]: entriesFormat } },
    spec: { continue: after },
  }
  const path = `/services/migratingworkspaces/clusters/${clusterOf(step)}${dumpsPath}`
  const page = await peer.post<LogicalClusterDump>(path, dump, AbortSignal.timeout(longest))
  if (page.metadata?.annotations?.[entriesAnnotation] === entriesFormat) return page
  throw new Error(`shard ${origin} has entries of another format`)
}

/** Reports why nothing was copied; the page is requested again. */
async function refused(step: MigrationStep, { message }: Error): Promise<number> {
  const state = isFalse('DataCopied', 'Error', 'CopyFailed', message)
  const known = findCondition(step.migration.status?.conditions, 'DataCopied')
  if (known?.message !== message) await report(step, { conditions: [state] })
  return tryAgain
}

const waitingPrefix = (uid: string): string => `/migrating/${uid}/`

function changeFor(step: MigrationStep, { key, value }: DumpEntry, last: number): StoreChange {
  const cluster = clusterOf(step)
  const place = parseStorageKey(registryPrefix + key)?.key.cluster
  if (place !== cluster && place !== boundCRDsCluster)
    throw new Error(`the dump of logical cluster ${cluster} has the entry ${key}`)
  const bytes = Buffer.from(value, 'base64')
  if (registryPrefix + key !== keyOfCluster(cluster))
    return { key: waitingPrefix(uidOf(step)) + key, value: bytes }
  return { key: keyOfCluster(cluster), value: encodeStored(arriving(step, bytes, last)) }
}

/** The revision of the origin is kept for the clients that come with it later. */
function arriving(step: MigrationStep, bytes: Buffer, last: number): LogicalCluster {
  const object = decodeObject(decodeStored(bytes).bytes) as LogicalCluster
  return annotated(object, {
    [migratingAnnotation]: annotationOf(step.key),
    [incomingAnnotation]: `${step.migration.status?.originShard ?? ''},${last}`,
    [shardAnnotation]: step.deps.shard.name,
  })
}

/** The switch: when the phase is written, the objects of the logical cluster are those of this shard. */
async function takeOver(step: MigrationStep, entriesCopied: number): Promise<void> {
  const { deps } = step
  const raw = await rawCluster(deps.content, clusterOf(step))
  if (raw === undefined) throw new Error('the dump had no LogicalCluster')
  await assignWorkspace(deps, raw.object, deps.shard.name)
  await report(step, {
    phase: 'OriginCleanup',
    entriesCopied,
    dumpContinue: '',
    conditions: [isTrue('DataCopied')],
  })
}

/** Shows the objects and opens the logical cluster (kcp `reconcileDestinationFinalize`). */
export async function finalize(step: MigrationStep): Promise<undefined> {
  const { deps, key } = step
  const cluster = clusterOf(step)
  const raw = await rawCluster(deps.content, cluster)
  if (raw !== undefined && isIncoming(raw) && movesFor(raw, annotationOf(key))) {
    const waiting = waitingPrefix(uidOf(step))
    await show(step, `${waiting}${cluster}/`)
    // After the bindings: schemas that none uses are removed.
    await show(step, waiting)
    const here = await deps.content.transfer([changeOf(cluster, raw, raw.object)])
    await deps.content.transfer([changeOf(cluster, { ...raw, modified: here }, opened(raw.object, here))])
  }
  await report(step, { phase: 'Completed', conditions: [isTrue('Completed')] })
}

/** `here`: the revision at which all objects have arrived. */
function opened(object: LogicalCluster, here: number): LogicalCluster {
  const { annotations = {} } = object.metadata
  const there = Number(annotations[incomingAnnotation]?.split(',').at(-1))
  return annotated(object, {
    [migratingAnnotation]: undefined,
    [incomingAnnotation]: undefined,
    [movedAnnotation]: movedText({ here, there }, annotations),
  })
}

const endOf = (prefix: string): string => `${prefix.slice(0, -1)}0`

async function show(step: MigrationStep, prefix: string): Promise<void> {
  const { content } = step.deps
  const start = waitingPrefix(uidOf(step))
  for (;;) {
    const values = await content.values(prefix, endOf(prefix), batch / 2)
    if (values.length === 0) return
    await transferAll(
      content,
      values.map(value => shown(value, start)),
    )
  }
}

function shown({ key, value, modified }: StoredValue, waiting: string): readonly StoreChange[] {
  const place = registryPrefix + key.slice(waiting.length)
  return [
    { key: place, value },
    { key, value: undefined, expected: modified },
  ]
}

async function discardWaiting(
  { content }: Pick<MigrationStep['deps'], 'content'>,
  uid: string,
): Promise<void> {
  await removeRange(content, [waitingPrefix(uid), endOf(waitingPrefix(uid))])
}

async function removeRange(
  content: MigrationStep['deps']['content'],
  [from, to]: readonly [string, string],
): Promise<void> {
  for (;;) {
    const values = await content.values(from, to, batch)
    if (values.length === 0) return
    await content.transfer(values.map(({ key, modified }) => ({ key, value: undefined, expected: modified })))
  }
}

/** Removes what was copied for a migration that failed or is gone: the origin opens the logical cluster again. */
export async function discard(
  deps: MigrationStep['deps'],
  cluster: string,
  { key, uid }: { readonly key: string; readonly uid: string | undefined },
): Promise<void> {
  if (uid !== undefined) await discardWaiting(deps, uid)
  const raw = await rawCluster(deps.content, cluster)
  if (raw === undefined || !isIncoming(raw) || !movesFor(raw, annotationOf(key))) return
  await deps.content.transfer([{ key: keyOfCluster(cluster), value: undefined, expected: raw.modified }])
}
