import type { ClusterName } from '../../framework/meta/object.ts'
import { isNotFound } from '../../framework/meta/statuschecks.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import {
  dumpAnnotation,
  incomingAnnotation,
  migratingAnnotation,
  migrationFinalizer,
  movedAnnotation,
  shardAnnotation,
} from '../../kcp/annotations.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import { findCondition, isFalse, isTrue } from '../../kcp/conditions.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { resources } from '../../kcp/resources.ts'
import { movedText } from '../apis/moved.ts'
import { decodeStored, encodeStored, parseStorageKey, registryPrefix } from '../cache/codec.ts'
import type { StoredEntry } from '../entries/fromkcp.ts'
import { isDefinition } from '../entries/fromoriel.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import type { StoreChange, StoredValue } from '../store/store.ts'
import { isCopiedHere } from './arrived.ts'
import { boundCopies, knownDefinition } from './boundcopies.ts'
import { requestedPage } from './page.ts'
import {
  annotated,
  arrivalOf,
  batch,
  changeOf,
  countOf,
  isIncoming,
  isMovable,
  keyOfCluster,
  movesFor,
  type RawCluster,
  rawCluster,
  transferAll,
  valuesOf,
  withCount,
} from './rawcluster.ts'
import {
  annotationOf,
  clusterOf,
  keyInAnnotation,
  type MigrationProgress,
  type MigrationStep,
  report,
  tryAgain,
} from './step.ts'
import { assignWorkspace } from './workspace.ts'

/**
 * Copies one page of entries from the origin (kcp `reconcileMigrating`). They wait beside the objects of the shard, where no
 * request and no controller sees them; only the LogicalCluster is stored at once, closed, so that requests wait here, too.
 */
export async function copyPage(step: MigrationStep): Promise<number | undefined> {
  if (!isHeld(step)) return hold(step)
  const { dumpContinue = '', entriesCopied = 0 } = step.migration.status ?? {}
  const problem = await problemOf(step)
  if (problem !== undefined) return refused(step, new Error(problem))
  const isCopied = await isCopiedHere(step).catch((error: Error) => error)
  if (isCopied instanceof Error) return refused(step, isCopied)
  if (isCopied) return takeOver(step, (await countBelow(step.deps, waitingPrefix(step.key))) + 1)
  const page = await requestedPage(step, dumpContinue).catch((error: Error) => error)
  if (page instanceof Error) return refused(step, page)
  // Not before: if the origin has removed its objects, these are the only ones.
  if (dumpContinue === '') await beginAgain(step)
  await keep(step, page.entries, page.last)
  const copied = entriesCopied + page.entries.length
  if (page.next !== '') return void (await report(step, { entriesCopied: copied, dumpContinue: page.next }))
  if (!page.isOfKcp) return takeOver(step, copied)
  const definitions = await definitionsFor(step).catch((error: Error) => error)
  if (definitions instanceof Error) return refused(step, definitions)
  await keep(step, definitions, page.last)
  return takeOver(step, copied + definitions.length)
}

/** Why nothing may take the place of the logical cluster here: another shard may serve a migration of any one. */
async function problemOf(step: MigrationStep): Promise<string | undefined> {
  const cluster = clusterOf(step)
  if (!isMovable(cluster)) return `logical cluster ${cluster} stays on its shard`
  const raw = await rawCluster(step.deps.content, cluster)
  if (raw === undefined || (isIncoming(raw) && movesFor(raw, annotationOf(step.key)))) return undefined
  const name = step.deps.shard.name
  return isIncoming(raw)
    ? `logical cluster ${cluster} is moving to shard ${name} by another migration`
    : `shard ${name} has a logical cluster ${cluster} of its own`
}

/** The finalizer of the origin; a shard of kcp sets none. What is being deleted gets no new one. */
const isHeld = ({ migration: { metadata } }: MigrationStep): boolean =>
  metadata.deletionTimestamp !== undefined || (metadata.finalizers ?? []).includes(migrationFinalizer)

async function hold({ home, key, migration }: MigrationStep): Promise<undefined> {
  const { finalizers = [] } = migration.metadata
  await home.write(migration, key, { finalizers: [...finalizers, migrationFinalizer] })
}

const keep = (step: MigrationStep, entries: readonly StoredEntry[], last: number): Promise<void> =>
  transferAll(
    step.deps.content,
    entries.map(entry => [changeFor(step, entry, last)]),
  )

/** What the bindings among the entries of a shard of kcp need. */
async function definitionsFor(step: MigrationStep): Promise<readonly StoredEntry[]> {
  const { group, resource, segment } = storedResourceOf(resources.apiBindings)
  const prefix = `${waitingPrefix(step.key)}${clusterOf(step)}/${group}/${resource}/${segment}/`
  const bindings: APIBinding[] = []
  for await (const values of valuesOf(step.deps.content.values, [prefix, endOf(prefix)]))
    bindings.push(...values.map(({ value }) => decodeObject(decodeStored(value).bytes) as APIBinding))
  return boundCopies(step, bindings)
}

async function beginAgain(step: MigrationStep): Promise<void> {
  const { content } = step.deps
  const raw = await rawCluster(content, clusterOf(step))
  if (raw !== undefined && isIncoming(raw))
    await content.transfer([changeOf(clusterOf(step), raw, withCount(raw.object, undefined))])
  await discardWaiting(step)
}

/** Reports why nothing was copied; the page is requested again. */
async function refused(step: MigrationStep, error: Error): Promise<number | undefined> {
  const { message } = error
  if (isAbandoned(step, error)) return void (await report(step, abandoned))
  const state = isFalse('DataCopied', 'Error', 'CopyFailed', message)
  const known = findCondition(step.migration.status?.conditions, 'DataCopied')
  if (known?.message !== message) await report(step, { conditions: [state] })
  return tryAgain
}

/** A shard of kcp forgets at a restart that a logical cluster moves, and does not end a migration that is deleted. */
const isAbandoned = ({ migration }: MigrationStep, error: Error): boolean =>
  migration.metadata.deletionTimestamp !== undefined && isNotFound(error)

const abandoned: MigrationProgress = {
  phase: 'Failed',
  conditions: [isFalse('DataCopied', 'Error', 'Deleted', 'the migration was deleted')],
}

const allWaiting = '/migrating/'
const waitingPrefix = (key: string): string => `${allWaiting}${annotationOf(key)}/`

function changeFor(step: MigrationStep, { key, value }: StoredEntry, last: number): StoreChange {
  const cluster = clusterOf(step)
  if (registryPrefix + key !== keyOfCluster(cluster)) return { key: waitingPrefix(step.key) + key, value }
  return { key: keyOfCluster(cluster), value: encodeStored(arriving(step, value, last)) }
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
async function takeOver(step: MigrationStep, entriesCopied: number): Promise<number | undefined> {
  const { deps } = step
  const raw = await rawCluster(deps.content, clusterOf(step))
  if (raw === undefined || (await countBelow(deps, waitingPrefix(step.key))) + 1 !== entriesCopied)
    return copyAll(step)
  const assigned = await assignWorkspace(
    deps,
    { cluster: clusterOf(step), object: raw.object },
    deps.shard.name,
  ).catch((error: Error) => error)
  if (assigned instanceof Error) return refused(step, assigned)
  await noteComplete(step, raw)
  await report(step, {
    phase: 'OriginCleanup',
    entriesCopied,
    dumpContinue: '',
    conditions: [isTrue('DataCopied')],
  })
  return undefined
}

/** While the origin asks: an earlier version of this shard has noted that everything is copied, and not how much that is. */
export async function noteCount(step: MigrationStep): Promise<undefined> {
  const raw = await rawCluster(step.deps.content, clusterOf(step))
  if (raw === undefined || !movesFor(raw, annotationOf(step.key))) return
  const { isComplete, count } = arrivalOf(raw)
  if (isComplete && Number.isNaN(count)) await noteComplete(step, raw)
}

async function noteComplete(step: MigrationStep, raw: RawCluster): Promise<void> {
  const cluster = clusterOf(step)
  const count = (await countBelow(step.deps, `${waitingPrefix(step.key)}${cluster}/`)) + 1
  await step.deps.content.transfer([changeOf(cluster, raw, withCount(raw.object, count))])
}

/** Some of the pages are missing: they are on another shard, or were lost. */
async function copyAll(step: MigrationStep): Promise<undefined> {
  await report(step, { phase: 'Migrating', entriesCopied: 0, dumpContinue: '' })
}

const countBelow = ({ content }: Waiting['deps'], prefix: string): Promise<number> =>
  countOf(content.values, [prefix, endOf(prefix)])

/** The last phase (kcp `reconcileDestinationFinalize`). What is not complete is copied, whatever the migration says. */
export async function finalize(step: MigrationStep): Promise<undefined> {
  const raw = await rawCluster(step.deps.content, clusterOf(step))
  const isArriving = raw !== undefined && isIncoming(raw) && movesFor(raw, annotationOf(step.key))
  if (isArriving && !arrivalOf(raw).isComplete) return copyAll(step)
  await arrive(step, clusterOf(step))
  await report(step, { phase: 'Completed', conditions: [isTrue('Completed')] })
}

type Waiting = Pick<MigrationStep, 'deps' | 'key'>

/** Shows the objects and opens the logical cluster. */
export async function arrive({ deps, key }: Waiting, cluster: ClusterName): Promise<void> {
  const { content } = deps
  const raw = await rawCluster(content, cluster)
  if (raw === undefined || !isIncoming(raw) || !movesFor(raw, annotationOf(key))) return
  const waiting = waitingPrefix(key)
  await show(deps, waiting, `${cluster}/`)
  // After the bindings: schemas that none uses are removed.
  await show(deps, waiting)
  const here = await content.transfer([changeOf(cluster, raw, raw.object)])
  await content.transfer([changeOf(cluster, { ...raw, modified: here }, opened(raw.object, here))])
}

/** `here`: the revision at which all objects have arrived. */
function opened(object: LogicalCluster, here: number): LogicalCluster {
  const { annotations = {} } = object.metadata
  const there = Number(annotations[incomingAnnotation]?.split(',')[1])
  return annotated(object, {
    [migratingAnnotation]: undefined,
    [dumpAnnotation]: undefined,
    [incomingAnnotation]: undefined,
    [movedAnnotation]: movedText({ here, there }, annotations),
  })
}

const endOf = (prefix: string): string => `${prefix.slice(0, -1)}0`

/** Shows what waits below a prefix and begins with `which`. */
async function show(deps: Waiting['deps'], waiting: string, which = ''): Promise<void> {
  const { content } = deps
  const prefix = waiting + which
  for (;;) {
    const values = await content.values(prefix, endOf(prefix), batch / 2)
    if (values.length === 0) return
    await transferAll(content, await Promise.all(values.map(value => shown(deps, value, waiting))))
  }
}

async function shown(
  deps: Waiting['deps'],
  { key, value, modified }: StoredValue,
  waiting: string,
): Promise<readonly StoreChange[]> {
  const place = registryPrefix + key.slice(waiting.length)
  const removal = { key, value: undefined, expected: modified }
  const parsed = parseStorageKey(place)
  if (parsed === undefined || !isDefinition(parsed)) return [{ key: place, value }, removal]
  const known = await knownDefinition(deps, parsed.key.name)
  return [{ key: place, value: known ?? value }, removal]
}

/** The keys of the migrations for which objects wait. */
export async function keysOfWaiting({
  content,
}: Pick<MigrationStep['deps'], 'content'>): Promise<readonly string[]> {
  const keys: string[] = []
  for (let from = allWaiting; ; ) {
    const [value] = await content.values(from, endOf(allWaiting), 1)
    const annotation = value?.key.slice(allWaiting.length).split('/')[0]
    if (annotation === undefined) return keys
    keys.push(keyInAnnotation(annotation))
    from = endOf(`${allWaiting}${annotation}/`)
  }
}

async function discardWaiting({ deps: { content }, key }: Waiting): Promise<void> {
  const prefix = waitingPrefix(key)
  for (;;) {
    const values = await content.values(prefix, endOf(prefix), batch)
    if (values.length === 0) return
    await content.transfer(values.map(({ key, modified }) => ({ key, value: undefined, expected: modified })))
  }
}

/** Removes what was copied for a migration that failed or is gone: the origin opens the logical cluster again. */
export async function discard(waiting: Waiting, cluster: ClusterName): Promise<void> {
  const { content } = waiting.deps
  await discardWaiting(waiting)
  const raw = await rawCluster(content, cluster)
  if (raw === undefined || !isIncoming(raw) || !movesFor(raw, annotationOf(waiting.key))) return
  await content.transfer([{ key: keyOfCluster(cluster), value: undefined, expected: raw.modified }])
}
