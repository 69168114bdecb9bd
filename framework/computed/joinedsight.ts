import { mapBatch } from '../contract/batch.ts'
import type { RequestContext } from '../contract/context.ts'
import { encodedOf, type Item, itemFrom, relabeledItem } from '../contract/item.ts'
import type { ItemList, ListQuery, ResourceStorage } from '../contract/storage.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import { unlessNotFound } from '../meta/statuschecks.ts'
import { withResourceVersion } from '../wire/encode.ts'
import { annotationsWith, type Join, Joins } from './joins.ts'

/** Whether a client that has seen a resourceVersion has seen the stored object: the joined one may be newer. */
export const hasSeen = (resourceVersion: string, { meta }: Item): boolean =>
  Number(resourceVersion) >= Number(meta.resourceVersion)

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

  /** The revision that a client names, or the newest one: the storage may never have had that of the client. */
  async reached(ctx: RequestContext, revision: number): Promise<number> {
    return revision <= this.joins.sent ? revision : Math.min(revision, await this.newest(ctx))
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
      return unlessNotFound(error)
    }
  }
}
