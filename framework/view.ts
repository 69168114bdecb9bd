import type { Params, RequestContext } from './context.ts'
import type { ObjectMeta } from './item.ts'
import type { KubeObject } from './object.ts'
import type { ListQuery, Selection } from './storage.ts'

/**
 * What one request sees of every object. Every part is optional; they are listed from free to dear.
 *
 * A filter holds for get, list, watch, update, patch, delete and deletecollection alike. On watch, entering the view is
 * ADDED and leaving it is DELETED with the last visible object at the new version. A lens that rewrites (`relabel`,
 * `present`) but has no `accept` is read-only.
 */
export interface Lens {
  /** Ask for less: the storage does it, bytes pass. */
  narrow?<Q extends Selection>(query: Q): Q
  /** Keep or hide: the body stays encoded. */
  matches?(meta: ObjectMeta): boolean
  /** Rewrite labels and annotations: the body is copied as bytes. */
  relabel?(meta: ObjectMeta): ObjectMeta
  /** Keep or hide: one decode. */
  matchesObject?(object: KubeObject): boolean
  /** Rewrite: one decode, one encode. */
  present?(object: KubeObject): KubeObject
  /** The way back, on writes; throws to refuse. */
  accept?(object: KubeObject, current?: KubeObject): KubeObject
}

/** A view turns a request into a lens, once; the lens is applied to every object of that request. */
export type View<P extends Params = Params> = (ctx: RequestContext<P>) => Lens

export type { ListQuery }
