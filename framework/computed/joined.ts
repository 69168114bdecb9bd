import { mapBatch } from '../contract/batch.ts'
import type { RequestContext } from '../contract/context.ts'
import { encodedOf, type Item, itemFrom, relabeledItem } from '../contract/item.ts'
import type {
  DeleteOptions,
  ItemList,
  ListQuery,
  ResourceStorage,
  WriteOptions,
} from '../contract/storage.ts'
import { originalStorage } from '../lens/privatestorage.ts'
import { conflict } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { withResourceVersion } from '../wire/encode.ts'
import { JoinedWatch } from './joinedwatch.ts'
import { annotationsWith, type Join, Joins } from './joins.ts'

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

/** Whether a client that has seen a resourceVersion has seen the stored object: the joined one may be newer. */
const hasSeen = (resourceVersion: string, { meta }: Item): boolean =>
  Number(resourceVersion) >= Number(meta.resourceVersion)

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

/** The objects of a storage with their joined annotations. */
export class JoinedSight {
  readonly storage: ResourceStorage
  readonly joins: Joins

  constructor(storage: ResourceStorage, join: Join) {
    this.storage = storage
    this.joins = new Joins(join)
  }

  ready(ctx: RequestContext): Promise<void> {
    return this.joins.ready(() => this.newest(ctx))
  }

  /** The newest revision of the storage. */
  async newest(ctx: RequestContext): Promise<number> {
    const list = this.storage.list(ctx, { cluster: ctx.cluster, limit: 1 })
    let next = await list.next()
    while (!next.done) next = await list.next()
    return Number(next.value.resourceVersion)
  }

  async *list(ctx: RequestContext, query: ListQuery): ItemList {
    await this.ready(ctx)
    const list = this.storage.list(ctx, query)
    try {
      let next = await list.next()
      for (; !next.done; next = await list.next()) yield mapBatch(next.value, item => this.shown(item))
      this.joins.hasSent(Number(next.value.resourceVersion))
      return next.value
    } finally {
      await list.return({ resourceVersion: '' })
    }
  }

  /** The object with the annotations of its joined object; the same item if it has them. `least`: its lowest resourceVersion. */
  shown(item: Item, least = 0, joined = this.joins.of(item)): Item {
    const annotations = annotationsWith(item.meta.annotations, this.joins.valuesOf(joined))
    const annotated = annotations === item.meta.annotations ? item : relabeledItem(item, { annotations })
    const own = Number(item.meta.resourceVersion)
    const revision = Math.max(own, Number(joined?.meta.resourceVersion ?? 0), least)
    if (revision === own) return annotated
    return itemFrom(withResourceVersion(encodedOf(annotated), String(revision)), item.key)
  }

  /** The object to store: with the annotations that are stored, and a resourceVersion that compares with the stored one. */
  accepted(object: KubeObject, stored?: Item): KubeObject {
    const { annotations = {}, resourceVersion, ...metadata } = object.metadata
    const own = Object.fromEntries(this.joins.names.map(name => [name, stored?.meta.annotations[name]]))
    const kept = annotationsWith(annotations, own)
    const seen = stored && resourceVersion && hasSeen(resourceVersion, stored)
    const version = seen ? stored.meta.resourceVersion : resourceVersion
    return {
      ...object,
      metadata: {
        ...metadata,
        ...(Object.keys(kept).length > 0 && { annotations: kept }),
        ...(version !== undefined && { resourceVersion: version }),
      },
    }
  }

  /** The object as a request sees it; undefined where it does not see it. */
  async seen(ctx: RequestContext, key: ObjectKey): Promise<Item | undefined> {
    try {
      return await this.storage.get(ctx, key)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === 404) return undefined
      throw error
    }
  }
}
