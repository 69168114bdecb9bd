import { aborted } from '../../framework/async/awaitable.ts'
import { retry } from '../../framework/async/backoff.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import { type Item, type ItemEvent, isCopied } from '../../framework/contract/item.ts'
import { silent } from '../../framework/contract/log.ts'
import type { PeerClient } from '../../framework/contract/peer.ts'
import { firstFound } from '../../framework/informers/firstfound.ts'
import { createInformers } from '../../framework/informers/informers.ts'
import { hasCode } from '../../framework/meta/statuschecks.ts'
import { incomingAnnotation, migratingAnnotation, migrationFinalizer } from '../../kcp/annotations.ts'
import { migrationGroup } from '../../kcp/apigroups.ts'
import type { APIExport } from '../../kcp/apis.ts'
import { isFalse } from '../../kcp/conditions.ts'
import { rootCluster } from '../../kcp/logicalclusters.ts'
import type { LogicalClusterMigration } from '../../kcp/migration.ts'
import { resources } from '../../kcp/resources.ts'
import { type Controller, keyOf } from '../controllers/controller.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'
import { createQueue, type Queue } from '../controllers/queue.ts'
import { bindMigrations } from './binding.ts'
import { copyPage, finalize, keysOfWaiting, noteCount } from './destination.ts'
import { settle } from './gone.ts'
import { homeHere, homeThere } from './home.ts'
import { reportMissing } from './missing.ts'
import { canEnd, cleanUp, prepare } from './origin.ts'
import { isIncoming, rawCluster } from './rawcluster.ts'
import { peerNamed, shardNames } from './shards.ts'
import {
  clusterOf,
  destinationOf,
  isBeforeSwitch,
  keyInAnnotation,
  type MigrationStep,
  report,
  tryAgain,
} from './step.ts'

export interface MigrationController extends Controller {
  /** Resolves with `logicalclustermigrations` when the export of `root` has an identity. */
  readonly resource: Promise<ResourceRef>
  /** Follows the migrations that another shard stores, until `signal` aborts. */
  follow(peer: { readonly name: string; readonly client: PeerClient }, signal: AbortSignal): Promise<void>
}

/** What was last seen of a migration. */
interface Seen {
  /** The shard that stores it. */
  readonly shard: string
  readonly cluster: string
}

interface Context {
  readonly deps: KcpControllerDeps
  readonly seen: Map<string, Seen>
  readonly queue: Queue
  /** Resolves with the resource when the export of `root` has an identity. */
  readonly resource: Promise<ResourceRef>
  /** The keys of migrations for which own logical clusters are closed. */
  closedFor(key: string): readonly Item[]
}

/**
 * Moves logical clusters between shards (kcp `pkg/reconciler/migration/logicalclustermigration`). Every shard follows the
 * migrations of all shards, and does the steps of the origin or of the destination.
 */
export function migrationController(deps: KcpControllerDeps): MigrationController {
  const queue = createQueue({
    name: 'logicalclustermigration',
    log: deps.log,
    reconcile: async key => {
      const again = await reconcile(context, key)
      if (again !== undefined) queue.addAfter(key, again)
    },
  })
  const clusters = deps.informers.for(resources.logicalClusters)
  const context: Context = {
    deps,
    queue,
    seen: new Map(),
    resource: migrationsOf(deps),
    closedFor: clusters.index(keysIn),
  }
  return {
    name: 'logicalclustermigration',
    resource: context.resource,
    idle: () => queue.idle(),
    follow: async ({ name, client }, signal) => {
      const resource = await Promise.race([context.resource, aborted(signal)])
      if (signal.aborted || resource === undefined) return
      // Failures are logged by those who copy objects of the same shard.
      createInformers(client, silent, signal)
        .for(resource)
        .onEvent(event => noted(context, name, event))
      await aborted(signal)
    },
    run: signal => run(context, signal),
  }
}

/** An own LogicalCluster that moves is found by the key of its migration. */
const keysIn = ({ meta }: Item): readonly string[] => {
  const annotation = meta.annotations[migratingAnnotation]
  return annotation === undefined || isCopied(meta) ? [] : [keyInAnnotation(annotation)]
}

async function run(context: Context, signal: AbortSignal): Promise<void> {
  const { deps, queue } = context
  const stops: (() => void)[] = []
  const started = context.resource.then(async resource => {
    if (signal.aborted) return
    stops.push(...subscribed(context, resource))
    await begun(deps, signal, async () => {
      for (const key of await keysOfWaiting(deps)) queue.add(key)
      await bindMigrations(deps, resource)
    })
  })
  started.catch(error => deps.log.error({ error: String(error) }, 'watching migrations failed'))
  await queue.run(signal)
  for (const stop of stops) stop()
}

function subscribed(context: Context, resource: ResourceRef): readonly (() => void)[] {
  const { deps, queue, seen } = context
  const { informers, shard, tenancy } = deps
  const clusters = informers.for(resources.logicalClusters)
  const known = informers.for(resource).onEvent(event => noted(context, shard.name, event))
  let isKnown = true
  const arrived = clusters.onEvent(({ type, item }) => {
    for (const key of keysIn(item)) queue.add(key)
    // Those that are there were asked about when the migration was seen.
    if (isKnown || type !== 'ADDED') return
    for (const [key, { cluster }] of seen) if (cluster === item.key.cluster) queue.add(key)
  })
  isKnown = false
  const joined = informers.for(tenancy.shards).onEvent(() => {
    for (const key of seen.keys()) queue.add(key)
  })
  return [known, arrived, joined]
}

/** Milliseconds. */
const pauses = { first: 500, longest: 10_000 }

const begun = ({ log }: KcpControllerDeps, signal: AbortSignal, act: () => Promise<void>): Promise<void> =>
  retry(act, {
    ...pauses,
    signal,
    failed: error => log.warn({ error: String(error) }, 'migrations are not bound, retrying'),
  })

function noted({ seen, queue }: Context, shard: string, { type, item }: ItemEvent): void {
  if (type === 'BOOKMARK') return
  const { spec } = item.object as LogicalClusterMigration
  const key = keyOf(item)
  seen.set(key, { shard, cluster: spec?.logicalCluster ?? '' })
  queue.add(key)
}

/** `logicalclustermigrations` with the identity of the export of `root`. */
const migrationsOf = ({ informers }: KcpControllerDeps): Promise<ResourceRef> =>
  firstFound(informers.for(resources.apiExports), ({ item: { key, object } }) => {
    if (key.cluster !== rootCluster || key.name !== migrationGroup) return undefined
    const identity = (object as APIExport).status?.identityHash
    const resource = 'logicalclustermigrations'
    return identity ? { group: migrationGroup, version: 'v1alpha1', resource, identity } : undefined
  })

async function reconcile(context: Context, key: string): Promise<number | undefined> {
  const resource = await context.resource
  const found = await find(context, resource, key)
  if (found === undefined) return void (await forget(context, key))
  const step = { deps: context.deps, key, ...found }
  for (const item of context.closedFor(key)) if (!concerns(step, item)) await settle(step, item.key.cluster)
  return advance(step)
}

/** Whether an own logical cluster moves because of the migration, and not because of an earlier one with its name. */
const concerns = (step: MigrationStep, { key, meta }: Item): boolean =>
  key.cluster === clusterOf(step) &&
  (meta.annotations[incomingAnnotation] === undefined || destinationOf(step) === step.deps.shard.name)

type Found = Pick<MigrationStep, 'home' | 'isHere' | 'migration'>

/** The current object: from the shard that had it last, else from any. Throws while one of them cannot be asked. */
async function find(context: Context, resource: ResourceRef, key: string): Promise<Found | undefined> {
  const { deps, seen } = context
  const { informers, peers, shard } = deps
  const own = informers.for(resource)
  const here = homeHere(deps.client, resource, (cluster, name) => own.get(cluster, '', name)?.object)
  const last = seen.get(key)?.shard ?? shard.name
  for (const name of [last, ...shardNames(deps).filter(name => name !== last)]) {
    const isHere = name === shard.name
    const home = isHere ? here : homeThere(peerNamed(peers, name), resource)
    const migration = await home.read(key)
    if (migration !== undefined) return { home, isHere, migration }
  }
  return undefined
}

/** A migration without an object. */
async function forget({ deps, seen, closedFor }: Context, key: string): Promise<void> {
  const closed = closedFor(key).map(item => item.key.cluster)
  for (const cluster of new Set([...closed, seen.get(key)?.cluster ?? '']))
    await settle({ deps, key }, cluster)
  seen.delete(key)
}

/** Does the part of this shard in the phase of a migration. Returns milliseconds after which it is tried again. */
export async function advance(step: MigrationStep): Promise<number | undefined> {
  const { deps, migration } = step
  const { phase } = migration.status ?? {}
  const isOrigin = await isFrom(step)
  const isDestination = destinationOf(step) === deps.shard.name
  const isDeleted = migration.metadata.deletionTimestamp !== undefined
  if (isOrigin && isBeforeSwitch(phase) && isDeleted && (await canEnd(step)))
    return void (await abort(step, 'Deleted', 'the migration was deleted'))
  if (phase === undefined || phase === 'Preparing')
    return isOrigin ? prepare(step) : void (await reportMissing(step))
  if (phase === 'Migrating') return isDestination ? copyPage(step) : void (isOrigin && (await check(step)))
  if (phase === 'OriginCleanup') return isOrigin ? cleanUp(step) : isDestination ? noteCount(step) : undefined
  if (phase === 'DestinationFinalize') return isDestination ? finalize(step) : undefined
  if (!isOrigin && !isDestination) return undefined
  if (phase === 'Failed') await settle(step, clusterOf(step))
  return release(step)
}

/** Whether this shard is the origin: it says so in its first step, and has the logical cluster before. */
async function isFrom(step: MigrationStep): Promise<boolean> {
  const { originShard = '' } = step.migration.status ?? {}
  if (originShard !== '') return originShard === step.deps.shard.name
  const raw = await rawCluster(step.deps.content, clusterOf(step))
  return raw !== undefined && !isIncoming(raw)
}

const abort = (step: MigrationStep, reason: string, message: string): Promise<void> =>
  report(step, { phase: 'Failed', conditions: [isFalse('DataCopied', 'Error', reason, message)] })

/** While the destination copies: a migration to a shard that was removed ends. */
async function check(step: MigrationStep): Promise<void> {
  const { informers, tenancy } = step.deps
  const name = destinationOf(step)
  if (informers.for(tenancy.shards).get(rootCluster, '', name) === undefined)
    await abort(step, 'DestinationGone', `shard ${name} was removed`)
}

/** After its part of the work: a shard of kcp does not remove the finalizer. */
async function release({ home, key, migration }: MigrationStep): Promise<number | undefined> {
  const { finalizers = [] } = migration.metadata
  if (!finalizers.includes(migrationFinalizer)) return undefined
  const change = { finalizers: finalizers.filter(each => each !== migrationFinalizer) }
  const written = await home.write(migration, key, change).catch((error: Error) => error)
  if (!(written instanceof Error)) return undefined
  // The other shard may have been first.
  if (hasCode(written, 409)) return tryAgain
  throw written
}
