import type { RequestContext } from '../contract/context.ts'
import type { Item } from '../contract/item.ts'
import type { DeleteOptions, ResourceStorage, WriteOptions } from '../contract/storage.ts'
import { originalStorage } from '../lens/privatestorage.ts'
import { conflict } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { hasSeen, JoinedSight } from './joinedsight.ts'
import { JoinedWatch } from './joinedwatch.ts'
import type { Join } from './joins.ts'

/**
 * A storage whose objects have annotations with values of other objects of their logical cluster. When such a value
 * changes, watches get MODIFIED events of the objects that show it. The resourceVersion of an object is that of the newer of both;
 * a write fails with 409 only if the object itself has changed. Writes do not store the annotations. Clients see values that
 * `annotations` chooses, also of objects that they may not read.
 *
 * ```ts
 * const namespaces = informers.for({ group: '', version: 'v1', resource: 'namespaces' })
 * const storage = joined(configMaps.storage, {
 *   objects: informers.for({ group: '', version: 'v1', resource: 'configmaps' }),
 *   joined: namespaces,
 *   key: ({ key }) => ({ namespace: '', name: key.namespace }),
 *   annotations: { 'example.com/owner': namespace => namespace?.meta.labels.owner },
 * })
 * ```
 *
 * Call it once for each view, and not for each request. A watch from a revision before the start of the server, or before the last
 * 1,000 changes of joined objects, is a 410, and the client lists again.
 */
export function joined<P extends Params>(given: ResourceStorage<P>, join: Join): ResourceStorage<P> {
  const storage = originalStorage(given)
  const sight = new JoinedSight(storage as unknown as ResourceStorage, join)
  const show = (item: Item): Item => sight.shown(item)
  return {
    async get(ctx, key) {
      await sight.ready(ctx)
      return show(await storage.get(ctx, key))
    },
    list: (ctx, query) => sight.list(ctx, query),
    watch: (ctx, query) => new JoinedWatch(sight, ctx, query).events(),
    async create(ctx, key, object, options) {
      await sight.ready(ctx)
      return show(await storage.create(ctx, key, sight.accepted(object), ownWrite(options)))
    },
    async update(ctx, key, change, options) {
      await sight.ready(ctx)
      const inner = async (stored: Item): Promise<KubeObject> =>
        sight.accepted(await change(show(stored)), stored)
      return show(await storage.update(ctx, key, inner, ownWrite(options)))
    },
    async delete(ctx, key, check, options) {
      await sight.ready(ctx)
      const { resourceVersion: wanted, ...others } = options
      const inner = (stored: Item): void | Promise<void> => {
        requireSeen(ctx, stored, wanted)
        return check(show(stored))
      }
      const deletion = await storage.delete(ctx, key, inner, others as DeleteOptions)
      return { ...deletion, item: show(deletion.item) }
    },
  }
}

/** A patch refers to the object that the client sees: its result is written instead. */
const ownWrite = ({ patch: _, ...options }: WriteOptions): WriteOptions => options

/** Throws 409 for a deletion by a client that has seen an older object. */
function requireSeen({ info }: RequestContext, stored: Item, wanted: string | undefined): void {
  if (wanted === undefined || hasSeen(wanted, stored)) return
  const { group, resource } = info.isResource ? info : { group: '', resource: '' }
  const { resourceVersion } = stored.meta
  throw conflict(
    { group, resource, name: stored.key.name },
    `the ResourceVersion in the precondition (${wanted}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
  )
}
