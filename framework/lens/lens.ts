import type { RequestContext } from '../contract/context.ts'
import type { ObjectMeta } from '../contract/item.ts'
import type { Selection } from '../contract/storage.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { Relabeling } from '../wire/relabel.ts'
import type { Annotator } from './annotate.ts'

/**
 * How one request sees all objects. All parts are optional; they are listed from cheap to expensive. A filter applies
 * to get, list, watch, update, patch, delete and deletecollection. On watch, an object that enters the view is ADDED,
 * one that leaves it is DELETED with its last visible state at the new version. A lens that rewrites (`relabel`,
 * `present`) without `accept` is read-only. Filters see the stored object; `present` sees the result of `relabel`;
 * selectors of clients see what is shown. Members are synchronous. They get private copies, which they may change. A wrong
 * result, an unknown member and a thrown error other than `StatusError` are a logged 500, or an ERROR event of a watch.
 */
export interface Lens {
  /** Narrows the selection, which has cluster and namespace: the storage filters, and bytes are passed through. */
  narrow?<Q extends Selection>(query: Q): Q
  /** Filters by metadata; the object is not decoded. */
  matches?(meta: ObjectMeta): boolean
  /** Replaces labels or annotations; the other bytes are copied. */
  relabel?(meta: ObjectMeta): Relabeling
  /** Adds the same annotations to all objects, after `relabel`; lists are mostly not decoded. */
  readonly annotate?: Annotator
  /** Filters by the decoded object. */
  matchesObject?(object: KubeObject): boolean
  /** Rewrites the decoded object, which is encoded again. Must keep name, namespace, uid and resourceVersion. */
  present?(object: KubeObject): KubeObject
  /**
   * The inverse of `present` for writes: returns the object to store; throws to reject one. `current` is the object as
   * the client sees it, `stored` as it is stored: what the lens hides has to be taken from it. Both are absent on
   * create. Name and namespace must stay; uid and resourceVersion are taken from the client.
   */
  accept?(object: KubeObject, current?: KubeObject, stored?: KubeObject): KubeObject
}

/** Returns the lens of a request, which is applied to all of its objects. Called once for each storage call. */
export type View<P extends Params = Params> = (ctx: RequestContext<P>) => Lens
