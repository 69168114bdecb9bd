import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { isDeparting } from '../bindings/content.ts'
import { type ControllerClient, ifFound } from './client.ts'

/** What is left after everything was asked to go. */
export interface Remaining {
  /** Objects by `<resource>.<group>`. */
  readonly instances: ReadonlyMap<string, number>
  /** Objects by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

const batch = 64

/** Milliseconds until what holds content is looked at again although nobody was heard to go: what is served no more
 * holds nothing. */
export const recheck = 60_000

/** Deletes all objects of some resources in one cluster, and counts those that stay for now. */
export async function deleteContent(
  client: ControllerClient,
  cluster: ClusterName,
  refs: readonly ResourceRef[],
): Promise<Remaining> {
  const instances = new Map<string, number>()
  const finalizers = new Map<string, number>()
  for (const ref of refs) {
    await deleteAll(client, ref, await client.list(ref, cluster))
    const left = await client.list(ref, cluster)
    if (left.length > 0) instances.set(`${ref.resource}.${ref.group}`, left.length)
    for (const { object } of left)
      for (const finalizer of object.metadata.finalizers ?? [])
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
  }
  return { instances, finalizers }
}

/** Objects that are terminating already are left to whoever holds them. */
async function deleteAll(client: ControllerClient, ref: ResourceRef, items: readonly Item[]): Promise<void> {
  const targets = items.filter(item => !isDeparting(item))
  for (let i = 0; i < targets.length; i += batch) {
    const some = targets.slice(i, i + batch)
    await Promise.all(some.map(({ key }) => ifFound(client.delete(ref, key, { propagation: 'Background' }))))
  }
}

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
