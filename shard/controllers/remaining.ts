import { pacedMap } from '../../framework/async/awaitable.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { isBeingDeleted } from '../bindings/content.ts'
import { type ControllerClient, ifFound } from './client.ts'
import { WorkerTurn } from './workerturn.ts'

/** The objects that remain after all were deleted. */
export interface Remaining {
  /** Objects by `<resource>.<group>`. */
  readonly instances: ReadonlyMap<string, number>
  /** Objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

/** What one attempt to delete all objects has left. */
export interface ContentDeletion extends Remaining {
  /** The turn of the worker was over before: reconcile again at once. */
  readonly isUnfinished?: true
  /** Why the objects of some resources could not be listed or deleted: their conversion webhook does not answer, for instance. */
  readonly failures: readonly Error[]
}

/** Deletions sent at the same time: one of a large object, because it decodes the object. */
const atOnce = { count: 64, bytes: 64 * 1024 }

/**
 * Milliseconds until remaining content is checked again without an event: resources that are no longer served cause
 * none.
 */
export const recheck = 60_000

/**
 * Deletes all objects of the resources in a logical cluster, in the turn of a worker, and counts those that remain. Where it fails, it
 * goes on with the other resources (`deleteAllContent` of `pkg/controller/namespace/deletion`). One failure is 409: another object has
 * the name of one of them, because the server was suspended meanwhile.
 */
export async function deleteContent(
  client: ControllerClient,
  cluster: ClusterName,
  refs: readonly ResourceRef[],
): Promise<ContentDeletion> {
  const instances = new Map<string, number>()
  const finalizers = new Map<string, number>()
  const failures: Error[] = []
  const turn = new WorkerTurn()
  for (const ref of refs) {
    const left = await leftAfterDeletion(client, cluster, ref, turn).catch(
      (error: Error) => void failures.push(error),
    )
    if (turn.isOver) return { instances, finalizers, failures, isUnfinished: true }
    if (left === undefined || left.length === 0) continue
    instances.set(`${ref.resource}.${ref.group}`, left.length)
    // Each is decoded, and may be large.
    for (const own of await pacedMap(left, ({ object }) => object.metadata.finalizers))
      for (const finalizer of own) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
  }
  return { instances, finalizers, failures }
}

/** Deletes the objects of one resource; returns those that remain. When the turn is over, none. */
async function leftAfterDeletion(
  client: ControllerClient,
  cluster: ClusterName,
  ref: ResourceRef,
  turn: WorkerTurn,
): Promise<readonly Item[]> {
  const all = Array.from(await client.list(ref, cluster), item => ({ item }))
  const remove = ({ item }: { item: Item }) =>
    ifFound(client.delete(ref, item.key, { propagation: 'Background', uid: item.meta.uid }))
  await deleteItems(all, remove, turn)
  return turn.isOver ? [] : client.list(ref, cluster)
}

/** Whether the resources have no objects. */
export async function isEmpty(
  client: ControllerClient,
  cluster: ClusterName,
  refs: readonly ResourceRef[],
): Promise<boolean> {
  for (const ref of refs) if ((await client.list(ref, cluster)).length > 0) return false
  return true
}

/** Deletes objects until the turn is over, without those that are terminating already: their finalizers are pending. */
export async function deleteItems<T extends { readonly item: Item }>(
  targets: readonly T[],
  remove: (target: T) => Promise<unknown>,
  turn: WorkerTurn,
): Promise<void> {
  const left = await pacedMap(targets, target => (isBeingDeleted(target.item) ? undefined : target))
  for (const some of batchesOf(left)) {
    if (turn.isOver) return
    await Promise.all(some.map(remove))
    turn.done()
  }
}

function* batchesOf<T extends { readonly item: Item }>(targets: readonly T[]): Generator<readonly T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const target of targets) {
    batch.push(target)
    bytes += target.item.bytes.length
    if (batch.length < atOnce.count && bytes < atOnce.bytes) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** The messages of the failures, in order. */
export const failureText = ({ failures }: ContentDeletion): string =>
  failures
    .map(({ message }) => message)
    .toSorted()
    .join(', ')

const listed = (counts: ReadonlyMap<string, number>, word: string): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${word} ${count} resource instances`)
    .join(', ')

/** `Some resources are remaining: widgets.example.io has 3 resource instances`; '' when none is. */
export const remainingInstances = ({ instances }: Remaining): string =>
  instances.size === 0 ? '' : `Some resources are remaining: ${listed(instances, 'has')}`

/** `Some content in the <where> has finalizers remaining: <finalizer> in 3 resource instances`; '' when none has. */
export const remainingFinalizers = ({ finalizers }: Remaining, where: string): string =>
  finalizers.size === 0
    ? ''
    : `Some content in the ${where} has finalizers remaining: ${listed(finalizers, 'in')}`
