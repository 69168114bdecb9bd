import type { ClusterName } from '../meta/object.ts'
import type { ResourceRef } from './backend.ts'
import type { Item, ItemEvent } from './item.ts'

/** A function from an object to the keys under which it is found. */
export type IndexFn = (item: Item) => readonly string[]

/** A local copy of one resource over all logical clusters, fed by list and watch, with indexes. */
export interface Informer {
  get(cluster: ClusterName, namespace: string, name: string): Item | undefined
  /** All objects, or those of one cluster. */
  list(cluster?: ClusterName): readonly Item[]
  /** Look-ups by what `fn` says; the same function twice is the same index. */
  index(fn: IndexFn): (key: string) => readonly Item[]
  /** Called after the local copy changed; for every object once when added late. Returns its removal. */
  onEvent(handler: (event: ItemEvent) => void): () => void
  /** Resolves after the first full list. */
  readonly synced: Promise<void>
}

/** Informers by resource: the same ref gives the same informer. Started on first use, stopped with the host. */
export interface Informers {
  for(resource: ResourceRef): Informer
}
