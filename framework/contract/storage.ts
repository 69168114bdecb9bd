import type { Awaitable } from '../async/awaitable.ts'
import type { ClusterScope, KubeObject, ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { FieldSelector, LabelSelector } from '../selectors/selectors.ts'
import type { RequestContext } from './context.ts'
import type { Item, ItemEvent } from './item.ts'

/** A run of items in key order. `bytes`: the same items, encoded and comma-joined, when they lie together in memory,
 * so that an untouched batch is one write and no loop. */
export interface ItemBatch extends Iterable<Item> {
  readonly bytes?: Buffer
  /** Where in `bytes` the member `annotations` of each item begins and ends, with its comma; twice the same where there
   * is none. Not known of items that are not canonical, or where nothing else need follow in metadata. */
  readonly annotationsAt?: Uint32Array | undefined
  readonly length: number
}

/** The list's own metadata, known when the last batch has been yielded. */
export interface ListMeta {
  /** The snapshot's revision; a watch may start here (chapter 40, rule 4.4). */
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export type ItemList = AsyncGenerator<ItemBatch, ListMeta, undefined>

/** Batches of events in resourceVersion order. The same array object may be handed to several watchers: its encoding
 * is then made once and shared. Ends without an error on timeout, shutdown and replaced definitions; throws
 * `expired` when the position was lost. */
export type ItemWatch = AsyncGenerator<readonly ItemEvent[], void, undefined>

/** What is listed: a scope, and optionally fewer objects of it. */
export interface Selection {
  readonly cluster: ClusterScope
  /** '' or absent: all namespaces. */
  readonly namespace?: string
  readonly labels?: LabelSelector
  readonly fields?: FieldSelector
  /** What of `labels` a view demands, whoever asks: all its clients may be served from the same selection. */
  readonly view?: LabelSelector
}

export interface ListQuery extends Selection {
  readonly limit?: number
  readonly continue?: string
  /** As sent; '' and absent mean the most recent state (chapter 40, table 4.7). */
  readonly resourceVersion?: string
  readonly match?: 'Exact' | 'NotOlderThan'
}

export interface WatchQuery extends Selection {
  readonly resourceVersion?: string
  /** Synthetic ADDED events for the current state first, ended by the annotated bookmark (chapter 40, table 4.39). */
  readonly initialEvents: boolean
  readonly bookmarks: boolean
  /** When the watch will be ended, in milliseconds since the epoch: a last bookmark is sent shortly before. */
  readonly deadline?: number
  /** To be called at once by a storage that asks somebody else, with a promise that resolves when nothing is refused any
   * more: until then a failure is still the answer, not an event. */
  readonly asking?: (begun: Promise<void>) => void
}

/** What a client has asked for besides the object, as admission sees it: `CreateOptions` and its like. Patches are
 * updates, or creations, to admission. */
export type SentOptions = Readonly<Record<string, unknown>> & { readonly kind: string }

export interface WriteOptions {
  readonly dryRun: boolean
  /** Who writes, for managedFields: query `fieldManager`, else the head of User-Agent (chapter 40, rule 5.19). */
  readonly fieldManager: string
  /** For patches, where somebody else stores the object, who may know more of it and keeps the owners of its fields. */
  readonly patch?: SentPatch
  readonly asSent?: SentOptions
}

/** What a client has sent to change an object. */
export interface SentPatch {
  /** A media type. */
  readonly type: string
  /** Of what is applied: takes fields from other managers. */
  readonly force?: boolean
  /** The patch, decoded, that makes what is to be stored: asked when that is known. undefined: none does, and the object
   * is written as it is. */
  readonly body: () => unknown
}

export interface DeleteOptions {
  readonly dryRun: boolean
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan'
  readonly asSent?: SentOptions
}

/** The next object, computed from the current one; called again after a lost race. Throws a `StatusError` to refuse. A
 * `metadata.resourceVersion` in its result that differs from the current one is a conflict; none means last write wins. */
export type Change = (current: Item) => KubeObject | Promise<KubeObject>

/** Looks at the object that is about to be deleted; throws a `StatusError` to refuse. */
export type Check = (current: Item) => void | Promise<void>

/** `removed` is false while finalizers hold the object; `item` is then the terminating object. */
export interface Deletion {
  readonly item: Item
  readonly removed: boolean
}

/**
 * Where objects of one resource in one version are read and written. Six functions; shard, remote, view and
 * view-of-a-view are all this. Everything that fails throws a `StatusError`.
 *
 * Reads never authorize: the server has done that before. Writes validate and admit where the objects live.
 */
export interface ResourceStorage<P extends Params = Params> {
  /** From memory at once: then it throws at once, too. */
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
