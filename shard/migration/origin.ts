import { type ClusterName, groupResource } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import {
  dumpAnnotation,
  dumpStates,
  leavingAnnotation,
  migratingAnnotation,
  migrationFinalizer,
  shardAnnotation,
} from '../../kcp/annotations.ts'
import { findCondition, isFalse, isTrue } from '../../kcp/conditions.ts'
import { decodeStored, encodeStored, parseStorageKey } from '../cache/codec.ts'
import { missingInKcp } from '../entries/tokcp.ts'
import { copyOf, isSharedOf } from '../peers/copying.ts'
import type { StoreChange, StoredValue } from '../store/store.ts'
import { hasArrived, OutdatedDestination } from './arrived.ts'
import {
  annotated,
  changeOf,
  closedAt,
  dumpStateOf,
  isIncoming,
  isLeaving,
  isMovable,
  keyOfCluster,
  movesFor,
  type RawCluster,
  rangeOf,
  rawCluster,
  transferAll,
  valuesOf,
} from './rawcluster.ts'
import { type Reached, reachDestination } from './reach.ts'
import { annotationOf, clusterOf, destinationOf, type MigrationStep, report, tryAgain } from './step.ts'
import { assignWorkspace } from './workspace.ts'

/**
 * The first phase: closes the logical cluster to all requests and writes (kcp `reconcilePreparing`). Nothing is closed while
 * the destination is not reachable.
 */
export async function prepare(step: MigrationStep): Promise<number | undefined> {
  const { deps, home, key, migration } = step
  const cluster = clusterOf(step)
  const raw = await rawCluster(deps.content, cluster)
  if (raw === undefined) return void (await reportDeleted(step))
  const problem = problemOf(step, raw)
  if (problem !== undefined) return void (await fail(step, ...problem))
  const reached = await reachDestination(step)
  if (reached instanceof Error) return waitForDestination(step, 'OriginReady', reached)
  const unsupported = unsupportedBy(step, reached)
  if (unsupported !== undefined) return void (await fail(step, 'DestinationNotSupported', unsupported))
  const { finalizers = [] } = migration.metadata
  if (!finalizers.includes(migrationFinalizer))
    return void (await home.write(migration, key, { finalizers: [...finalizers, migrationFinalizer] }))
  const { originShard = '' } = migration.status ?? {}
  if (originShard !== deps.shard.name)
    return void (await report(step, { phase: 'Preparing', originShard: deps.shard.name }))
  await close(step, raw, reached)
  // Now that nothing is written any more: a failed migration opens the logical cluster again.
  const late = unsupportedBy(step, reached)
  if (late !== undefined) return void (await fail(step, 'DestinationNotSupported', late))
  return void (await report(step, { phase: 'Migrating', conditions: [isTrue('OriginReady')] }))
}

/** Why a shard of kcp cannot have all objects of the logical cluster. */
function unsupportedBy(step: MigrationStep, { isKcp }: Reached): string | undefined {
  if (!isKcp) return undefined
  const cluster = clusterOf(step)
  const found = missingInKcp.find(resource => step.deps.content.count(resource, cluster) > 0)
  if (found === undefined) return undefined
  const name = groupResource(found.group, found.resource)
  return `logical cluster ${cluster} has ${name}, which shard ${destinationOf(step)} of kcp does not have`
}

type Problem = readonly [reason: string, message: string]

function problemOf(step: MigrationStep, raw: RawCluster): Problem | undefined {
  const { deps, key } = step
  const cluster = clusterOf(step)
  if (!isMovable(cluster))
    return ['LogicalClusterNotMovable', `logical cluster ${cluster} stays on its shard`]
  if (destinationOf(step) === deps.shard.name)
    return ['SameShard', `logical cluster ${cluster} is on shard ${deps.shard.name} already`]
  if (raw.object.metadata.deletionTimestamp !== undefined)
    return ['LogicalClusterDeleting', `logical cluster ${cluster} is being deleted`]
  const other = raw.object.metadata.annotations?.[migratingAnnotation]
  if (other !== undefined && other !== annotationOf(key))
    return ['LogicalClusterAlreadyMigrating', `logical cluster is already migrating with "${other}"`]
  return undefined
}

/** It was there when this shard became the origin. */
async function reportDeleted(step: MigrationStep): Promise<void> {
  if (step.migration.status?.originShard !== step.deps.shard.name) return
  await fail(step, 'LogicalClusterNotFound', `logical cluster ${clusterOf(step)} was deleted`)
}

const fail = (step: MigrationStep, reason: string, message: string): Promise<void> =>
  report(step, { phase: 'Failed', conditions: [isFalse('OriginReady', 'Error', reason, message)] })

async function waitForDestination(
  step: MigrationStep,
  condition: 'OriginReady' | 'OriginCleaned',
  error: Error,
): Promise<number> {
  const { message } = error
  const reason = error instanceof OutdatedDestination ? 'DestinationOutdated' : 'DestinationUnreachable'
  const state = isFalse(condition, 'Error', reason, message)
  const known = findCondition(step.migration.status?.conditions, condition)
  if (known?.message !== message) await report(step, { conditions: [state] })
  return tryAgain
}

/**
 * Stores the annotation that closes the logical cluster, also to what other servers have admitted, and once more when the cache has
 * it: writes of before are part of what the second commit leaves behind.
 */
async function close(step: MigrationStep, raw: RawCluster, { isKcp }: Reached): Promise<void> {
  const { content } = step.deps
  const cluster = clusterOf(step)
  const closed = annotated(raw.object, {
    [migratingAnnotation]: annotationOf(step.key),
    [dumpAnnotation]: isKcp ? dumpStates.awaited : undefined,
  })
  await content.transfer([changeOf(cluster, raw, closed), ...content.admissionEnd()])
  const again = await rawCluster(content, cluster)
  if (again === undefined) throw new Error(`logical cluster ${cluster} is gone`)
  await content.transfer([changeOf(cluster, again, again.object)])
}

/**
 * Removes the objects that the destination has now, the LogicalCluster last (kcp `reconcileOriginCleanup`). Objects that
 * other shards use become copies: those who use them here do not notice. What the destination does not have is copied again.
 */
export async function cleanUp(step: MigrationStep): Promise<number | undefined> {
  const { deps, key } = step
  const cluster = clusterOf(step)
  const raw = await rawCluster(deps.content, cluster)
  if (raw !== undefined && !isIncoming(raw) && movesFor(raw, annotationOf(key))) {
    const isReady = isLeaving(raw) || (await isCopiedThere(step, raw))
    if (isReady instanceof Error) return waitForDestination(step, 'OriginCleaned', isReady)
    if (!isReady) return copyAgain(step, raw)
    // A shard of kcp does not do that.
    if (dumpStateOf(raw) !== undefined)
      await assignWorkspace(deps, { cluster, object: raw.object }, destinationOf(step))
    await leave(deps, raw, { cluster, destination: destinationOf(step) })
  }
  await report(step, { phase: 'DestinationFinalize', conditions: [isTrue('OriginCleaned')] })
  return undefined
}

/** An error says why the destination does not tell. */
async function isCopiedThere(step: MigrationStep, raw: RawCluster): Promise<boolean | Error> {
  if (await hasLateWrites(step, raw)) return false
  return hasArrived(step, raw).catch((error: Error) => error)
}

/** Another server of this shard may have stored a write that it admitted before it knew that the logical cluster moves. */
async function hasLateWrites(step: MigrationStep, raw: RawCluster): Promise<boolean> {
  const since = closedAt(raw)
  const isOther = ({ key }: StoredValue): boolean => key !== keyOfCluster(clusterOf(step))
  for await (const values of valuesOf(step.deps.content.values, rangeOf(clusterOf(step))))
    if (values.some(value => isOther(value) && value.modified > since)) return true
  return false
}

/** Copies of before count no more: the logical cluster is closed anew. */
async function copyAgain(step: MigrationStep, raw: RawCluster): Promise<undefined> {
  const dump = dumpStateOf(raw) === dumpStates.sent ? dumpStates.begun : dumpStateOf(raw)
  const closed = annotated(raw.object, { [dumpAnnotation]: dump })
  await step.deps.content.transfer([changeOf(clusterOf(step), raw, closed)])
  await report(step, { phase: 'Migrating', dumpContinue: '', entriesCopied: 0 })
}

interface Departure {
  readonly cluster: ClusterName
  readonly destination: string
}

async function leave(
  deps: MigrationStep['deps'],
  raw: RawCluster,
  { cluster, destination }: Departure,
): Promise<void> {
  const { content } = deps
  await content.transfer([
    changeOf(cluster, raw, annotated(raw.object, { [leavingAnnotation]: destination })),
  ])
  const isShared = isSharedOf(deps, cluster)
  for await (const values of valuesOf(content.values, rangeOf(cluster))) {
    const others = values.filter(({ key }) => key !== keyOfCluster(cluster))
    await transferAll(
      content,
      others.map(value => [leftBehind(value, isShared(resourceIn(value)) ? destination : undefined)]),
    )
  }
  const last = await rawCluster(content, cluster)
  if (last !== undefined)
    await content.transfer([changeOf(cluster, last, copyOf(opened(last, destination), destination))])
}

const resourceIn = ({ key }: StoredValue) =>
  parseStorageKey(key)?.resource ?? { group: '', resource: '', segment: '' }

/** The removal of an object, or its copy. */
function leftBehind({ key, value, modified }: StoredValue, copiedFrom: string | undefined): StoreChange {
  if (copiedFrom === undefined) return { key, value: undefined, expected: modified }
  const copy = copyOf(decodeObject(decodeStored(value).bytes), copiedFrom)
  return { key, value: encodeStored(copy), expected: modified }
}

const opened = ({ object }: RawCluster, shard: string) =>
  annotated(object, {
    [migratingAnnotation]: undefined,
    [leavingAnnotation]: undefined,
    [dumpAnnotation]: undefined,
    [shardAnnotation]: shard,
  })

/**
 * Whether a migration can end before its switch. A shard of kcp would keep what it has copied: if it has begun, the migration goes on,
 * else it gets nothing from now on.
 */
export async function canEnd({ deps, key, ...step }: MigrationStep): Promise<boolean> {
  const cluster = clusterOf({ deps, key, ...step })
  const raw = await rawCluster(deps.content, cluster)
  if (raw === undefined || isIncoming(raw) || !movesFor(raw, annotationOf(key))) return true
  const state = dumpStateOf(raw)
  if (state === dumpStates.awaited)
    await deps.content.transfer([
      changeOf(cluster, raw, annotated(raw.object, { [dumpAnnotation]: dumpStates.refused })),
    ])
  return state !== dumpStates.begun && state !== dumpStates.sent
}

/** Opens the logical cluster of a migration that failed or is gone. If its objects are being removed, the others are removed, too. */
export async function reopen(
  { deps, key }: Pick<MigrationStep, 'deps' | 'key'>,
  cluster: ClusterName,
): Promise<void> {
  const raw = await rawCluster(deps.content, cluster)
  if (raw === undefined || isIncoming(raw) || !movesFor(raw, annotationOf(key))) return
  const destination = raw.object.metadata.annotations?.[leavingAnnotation]
  if (destination !== undefined) return leave(deps, raw, { cluster, destination })
  await assignWorkspace(deps, { cluster, object: raw.object }, deps.shard.name)
  await deps.content.transfer([changeOf(cluster, raw, opened(raw, deps.shard.name))])
}
