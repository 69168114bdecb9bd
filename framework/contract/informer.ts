import type { ClusterName } from '../meta/object.ts'
import type { ResourceRef } from './backend.ts'
import type { Item, ItemEvent } from './item.ts'

/** Returns the keys of an object in an index. */
export type IndexFn = (item: Item) => readonly string[]

/**
 * A local copy of one resource in all logical clusters, kept current by list and watch, with indexes:
 *
 * ```ts
 * const bindings = informers.for({ group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apibindings' })
 * const byLabel = bindings.index(({ meta }) => [meta.labels.team ?? ''])
 * await bindings.synced
 * const ofOps = byLabel('ops')
 * ```
 */
export interface Informer {
  /** `namespace` is '' for cluster-scoped objects. */
  get(cluster: ClusterName, namespace: string, name: string): Item | undefined
  /** All objects, or those of one cluster. */
  list(cluster?: ClusterName): readonly Item[]
  /** Look-ups by the keys that `fn` returns. The same function gives the same index. */
  index(fn: IndexFn): (key: string) => readonly Item[]
  /** Calls `handler` after each change, and first for each object that is known already. Returns a function that removes it. */
  onEvent(handler: (event: ItemEvent) => void): () => void
  /** Resolves after the first full list. */
  readonly synced: Promise<void>
}

/** Informers by resource: the same ref gives the same informer. They start on first use and stop with the server. */
export interface Informers {
  for(resource: ResourceRef): Informer
}
