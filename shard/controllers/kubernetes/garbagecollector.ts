import { CacheEvent } from '../../../framework/cache/event.ts'
import type { Logger } from '../../../framework/contract/log.ts'
import type { StoredResource } from '../../cache/codec.ts'
import type { CachedItem } from '../../cache/item.ts'
import type { Controller } from '../controller.ts'
import { createQueue } from '../queue.ts'
import { type Collection, collect } from './collect.ts'
import { foreground, orphan } from './owners.ts'
import { createOwnership, type Ownership, ownersOf, parsePlace, placeKey, placeOf } from './ownership.ts'

/** What the garbage collector works with. */
export interface GarbageCollectorDeps extends Omit<Collection, 'ownership'> {
  readonly log: Logger
}

interface Collector {
  readonly ownership: Ownership
  /** Places of owners that are held for the collector, by cluster and uid. */
  readonly held: Map<string, string>
}

/** Deletes what has lost all its owners, in one logical cluster each (chapter 20, section 7.1; chapter 40, section 6.3). */
export function garbageCollector(deps: GarbageCollectorDeps): Controller {
  const ownership = createOwnership()
  const held = new Map<string, string>()
  const queue = createQueue({
    name: 'garbagecollector',
    log: deps.log,
    reconcile: async key => {
      const again = await collect({ ...deps, ownership }, parsePlace(key))
      if (again !== undefined) queue.addAfter(key, again)
    },
  })
  const handle = (resource: StoredResource, event: CacheEvent<CachedItem>): void => {
    ownership.apply(resource, event)
    for (const key of affected({ ownership, held }, resource, event)) queue.add(key)
  }
  return {
    name: 'garbagecollector',
    idle: () => queue.idle(),
    async run(signal) {
      const remove = deps.cache.subscribe((cache, event) => handle(cache.resource, event))
      for (const cache of deps.cache.resources())
        for (const item of cache.items()) handle(cache.resource, new CacheEvent('ADDED', item))
      await queue.run(signal)
      remove()
    },
  }
}

const [deletionMark, foregroundMark, orphanMark] = [
  Buffer.from('"deletionTimestamp":'),
  Buffer.from(`"${foreground}"`),
  Buffer.from(`"${orphan}"`),
] as const

/** Terminating with one of the collector's finalizers; looks at the bytes of metadata only. */
function isHeldByCollector(item: CachedItem): boolean {
  const { rest, end } = item.offsets
  const metadata = item.bytes.subarray(rest, end)
  return (
    metadata.includes(deletionMark) && (metadata.includes(foregroundMark) || metadata.includes(orphanMark))
  )
}

const uidKey = (cluster: string, uid: string): string => `${cluster}|${uid}`

/** Keeps the places of owners that wait for the collector, and says whose turn it is after a change: the object's own,
 * its dependents' when it is gone, its owners' when they may have waited for it. */
function affected(
  { ownership, held }: Collector,
  resource: StoredResource,
  { type, item, previous }: CacheEvent<CachedItem>,
): readonly string[] {
  const isHeld = type !== 'DELETED' && isHeldByCollector(item)
  const own = (): string => placeKey(placeOf(resource, item))
  if (isHeld) held.set(uidKey(item.cluster, item.meta.uid), own())
  else if (previous !== undefined && isHeldByCollector(previous))
    held.delete(uidKey(item.cluster, item.meta.uid))
  const owners = ownersOf(type === 'DELETED' ? item : (previous ?? item))
  const waiting = owners.flatMap(({ uid }) => held.get(uidKey(item.cluster, uid)) ?? [])
  if (type === 'DELETED')
    return ownership.isEmpty ? waiting : [...waiting, ...ownership.dependentsOf(item.cluster, item.meta.uid)]
  return isHeld || ownersOf(item).length > 0 ? [own(), ...waiting] : waiting
}
