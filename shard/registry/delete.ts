import type { RequestContext } from '../../framework/contract/context.ts'
import type { Check, DeleteOptions, Deletion } from '../../framework/contract/storage.ts'
import { sameJson } from '../../framework/json/same.ts'
import { conflict, type StatusError } from '../../framework/meta/errors.ts'
import type { KubeObject, ObjectKey } from '../../framework/meta/object.ts'
import type { CachedItem } from '../cache/item.ts'
import type { Revocable } from './conditions.ts'
import { aboutOf, attributesOf, type Registry, seen, storedObject } from './registry.ts'
import { retried } from './retried.ts'
import {
  isHeld,
  propagationFinalizers,
  type ResourceStrategy,
  startDeletion,
  withMetadata,
} from './strategy.ts'

interface Removal {
  readonly key: ObjectKey
  readonly check: Check
  readonly options: DeleteOptions
}

/** Removes an object, or marks it for deletion while finalizers hold it (rules.md 6.7 to 6.13). */
export function remove(registry: Registry, ctx: RequestContext, wish: Removal): Promise<Deletion> {
  const { strategy } = registry.rules
  return retried(registry.store, wish.key, aboutOf(registry, wish.key), async current => {
    await wish.check(current)
    checkPreconditions(registry, strategy, current, wish.options)
    const old = storedObject(current)
    await admitDeletion(registry, ctx, wish, seen(current))
    return step(registry, strategy, { current, old, options: wish.options })
  })
}

async function admitDeletion(
  registry: Registry,
  ctx: RequestContext,
  { key, options }: Removal,
  old: KubeObject,
): Promise<void> {
  const attributes = {
    ...attributesOf(registry, 'DELETE', key, options),
    isOneOfMany: ctx.info.verb === 'deletecollection',
    old,
  }
  await registry.admission.admitDeletion(ctx, attributes)
  await registry.admission.validate(ctx, attributes)
}

/** Throws 409 (rules.md 6.9): the message has the kind, not the resource. */
function checkPreconditions(
  { group, store }: Registry,
  { kind }: ResourceStrategy,
  current: CachedItem,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const { key, meta } = current
  const refuse = (why: string): StatusError => conflict({ group, resource: kind, name: key.name }, why)
  if (uid !== undefined && uid !== meta.uid) {
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${meta.uid}). ` +
        'The object might have been deleted and then recreated',
    )
  }
  if (resourceVersion !== undefined && !store.isCurrent(current, resourceVersion)) {
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record ` +
        `(${meta.resourceVersion}). The object might have been modified`,
    )
  }
}

interface Step {
  readonly current: CachedItem
  readonly old: KubeObject
  readonly options: Revocable<DeleteOptions>
}

async function step(
  { store }: Registry,
  strategy: ResourceStrategy,
  { current, old, options }: Step,
): Promise<Deletion> {
  const marked = startDeletion(strategy, withPropagation(strategy, old, options))
  const { key, modified: expected, meta } = current
  if (!isHeld(strategy, marked)) {
    if (options.dryRun) return { item: current, removed: true }
    return { item: await store.write(key, undefined, expected, options), removed: true }
  }
  if (sameJson(marked, old)) return { item: current, removed: false }
  if (!options.dryRun) return { item: await store.write(key, marked, expected, options), removed: false }
  const { resourceVersion } = meta
  return { item: await store.detached(key, withMetadata(marked, { resourceVersion })), removed: false }
}

function withPropagation(
  { rest }: ResourceStrategy,
  object: KubeObject,
  { propagation }: DeleteOptions,
): KubeObject {
  if (!rest.collected || propagation === undefined) return object
  return withMetadata(object, {
    finalizers: propagationFinalizers(object.metadata.finalizers, propagation),
  })
}
