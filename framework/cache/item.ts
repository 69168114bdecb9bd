import type { Item } from '../contract/item.ts'
import type { ObjectKey } from '../meta/object.ts'

/** The place of an object among those of its resource: list order is the order of these. */
export const idOf = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/** One object in a cache. Immutable to the outside; only where its bytes lie may change. */
export interface CacheItem extends Item {
  /** `cluster/namespace/name`. */
  readonly id: string
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  /** The resourceVersion that is presented. */
  readonly revision: number
  readonly labels: Readonly<Record<string, string>>
  readonly length: number
  /** Copies the bytes to `target`; returns how many. */
  copy(target: Buffer, start: number): number
  /** Copies the bytes to `slab` at `start` and remembers that place instead of the old one. */
  move(slab: Buffer, start: number): void
  /** The same object presented at a later revision. */
  at(revision: number): CacheItem
}
