import type { Awaitable } from '../async/awaitable.ts'
import type { ClusterScope, KubeObject, ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { FieldSelector, LabelSelector } from '../selectors/selectors.ts'
import type { RequestContext } from './context.ts'
import type { Item, ItemEvent } from './item.ts'

/** Items in key order. `bytes`: the same items as JSON, separated by commas, if they lie together in memory, so that an
 * unchanged batch is sent without a loop. */
export interface ItemBatch extends Iterable<Item> {
  readonly bytes?: Buffer
  /** `bytes` without apiVersion and kind of the items, as lists of built-in kinds have them; undefined if only `bytes` lie together. */
  readonly untyped?: Buffer | undefined
  /** The positions in `bytes` where the member `annotations` of each item begins and ends, with its comma; twice the same
   * for items without. undefined if an item is not in the canonical encoding. */
  readonly annotationsAt?: Uint32Array | undefined
  readonly length: number
}

/** The metadata of a list, which a list returns after its last batch. */
export interface ListMeta {
  /** The revision of the list; a watch can start here (rules.md 4.4). */
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** A list: yields batches, then returns the list's metadata. All batches are of one revision. */
export type ItemList = AsyncGenerator<ItemBatch, ListMeta, undefined>

/** A watch: yields batches of events in the order of resourceVersions. Several watchers may get the same array, which is
 * encoded once. Ends without an error at the deadline, on shutdown and when the API definition is replaced; throws
 * `expired` if events were lost. */
export type ItemWatch = AsyncGenerator<readonly ItemEvent[], void, undefined>

/** The objects of a list or watch: a logical cluster or `*`, optionally a namespace and selectors. */
export interface Selection {
  readonly cluster: ClusterScope
  /** '' or absent: all namespaces. */
  readonly namespace?: string
  readonly labels?: LabelSelector
  readonly fields?: FieldSelector
  /** The query parameters of the request that the resource has in `queryOptions`. */
  readonly options?: Readonly<Record<string, string>>
  /** The requirements of `labels` that the view adds for all clients: a backend may share one watch between them. */
  readonly view?: LabelSelector
}

/** The options of a list (`metav1.ListOptions`). */
export interface ListQuery extends Selection {
  readonly limit?: number
  readonly continue?: string
  /** As sent; '' and absent mean the most recent state (rules.md 4.7 to 4.11). */
  readonly resourceVersion?: string
  readonly match?: 'Exact' | 'NotOlderThan'
}

/** The options of a watch (`metav1.ListOptions`). */
export interface WatchQuery extends Selection {
  readonly resourceVersion?: string
  /** Begins with ADDED events for the current state and the annotated bookmark (rules.md 4.39c). */
  readonly initialEvents: boolean
  readonly bookmarks: boolean
  /** The end of the watch in milliseconds since the epoch; a last bookmark is sent shortly before. */
  readonly deadline?: number
  /** For storages that start the watch on another server: call it immediately with a promise that resolves when that server
   * has accepted the watch. Until then an error is the response, not an ERROR event. */
  readonly asking?: (begun: Promise<void>) => void
}

/** The options of a write as admission gets them: `CreateOptions`, `UpdateOptions` or `DeleteOptions`. */
export type SentOptions = Readonly<Record<string, unknown>> & { readonly kind: string }

/** The options of a create or update. */
export interface WriteOptions {
  readonly dryRun: boolean
  /** The manager for managedFields: the query's `fieldManager`, else from the User-Agent (rules.md 5.19). */
  readonly fieldManager: string
  /** The patch, for storages on another server, which applies it and updates managedFields. */
  readonly patch?: SentPatch
  readonly asSent?: SentOptions
}

/** The patch of a client. */
export interface SentPatch {
  /** The media type. */
  readonly type: string
  /** For server-side apply: takes fields from other managers. */
  readonly force?: boolean
  /** The decoded patch, after the call of `change`; undefined if the result of `change` must be sent instead. */
  readonly body: () => unknown
}

/** The options of a delete (`metav1.DeleteOptions`). */
export interface DeleteOptions {
  readonly dryRun: boolean
  /** Preconditions: 409 if the object has another uid or resourceVersion. */
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
  readonly asSent?: SentOptions
}

/** Returns the new object for the current one; called again after a concurrent write. Throws a `StatusError` to refuse. If the
 * result has a `metadata.resourceVersion` other than the current one, the update is a conflict; without one it overwrites. */
export type Change = (current: Item) => KubeObject | Promise<KubeObject>

/** Called with the object before its deletion; throws a `StatusError` to refuse. */
export type Check = (current: Item) => void | Promise<void>

/** The result of a delete. `removed` is false if finalizers remain; `item` is then the terminating object. */
export interface Deletion {
  readonly item: Item
  readonly removed: boolean
}

/**
 * Reads and writes the objects of one resource in one version: of a backend, or of a view over another storage. Errors
 * are `StatusError`s: `get`, `update` and `delete` throw 404 for missing objects, `create` throws 409 for existing ones.
 *
 * The functions do not authorize: the server does before. Admission runs in the storage of the backend.
 */
export interface ResourceStorage<P extends Params = Params> {
  /** May return and throw without a promise. */
  readonly get: (ctx: RequestContext<P>, key: ObjectKey) => Awaitable<Item>
  readonly list: (ctx: RequestContext<P>, query: ListQuery) => ItemList
  readonly watch: (ctx: RequestContext<P>, query: WatchQuery) => ItemWatch
  readonly create: (
    ctx: RequestContext<P>,
    key: ObjectKey,
    object: KubeObject,
    options: WriteOptions,
  ) => Promise<Item>
  readonly update: (
    ctx: RequestContext<P>,
    key: ObjectKey,
    change: Change,
    options: WriteOptions,
  ) => Promise<Item>
  readonly delete: (
    ctx: RequestContext<P>,
    key: ObjectKey,
    check: Check,
    options: DeleteOptions,
  ) => Promise<Deletion>
}
