import type { Item, ObjectMeta } from '../contract/item.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { Texts } from '../wire/encode.ts'

/** The key of an object within its resource; lists are sorted by it. */
export const idOf = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/** One object in a cache. Immutable, except for the position of its bytes. */
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
  /** Copies the bytes to `target`; returns their number. */
  copy(target: Buffer, start: number): number
  /** Copies the bytes to `slab` at `start` and remembers that place instead of the old one. */
  move(slab: Buffer, start: number): void
  /** The same object presented at a later revision. */
  at(revision: number): CacheItem
}

/** The position of the bytes of an item. */
export interface SlabPlace {
  readonly slab: Buffer
  readonly start: number
  readonly length: number
}

/** What is presented of an object in addition to its bytes. */
export interface PresentedMeta {
  /** The resourceVersion. */
  readonly revision: number
  readonly labels: Texts
}

/**
 * An object in a cache: a few numbers and a position in a slab that it shares with its neighbors. Everything else is
 * computed on demand. Immutable, except for the position of its bytes.
 */
export abstract class SlabItem implements CacheItem, ObjectMeta {
  /** `cluster/namespace/name`: list order. */
  readonly id: string
  readonly cluster: string
  readonly namespace: string
  readonly revision: number
  readonly labels: Texts
  readonly length: number
  #slab: Buffer
  #start: number

  constructor(key: ObjectKey, { slab, start, length }: SlabPlace, { revision, labels }: PresentedMeta) {
    this.id = idOf(key)
    this.cluster = key.cluster
    this.namespace = key.namespace
    this.revision = revision
    this.labels = labels
    this.length = length
    this.#slab = slab
    this.#start = start
  }

  abstract get annotations(): Texts
  abstract get uid(): string
  abstract get object(): KubeObject
  abstract at(revision: number): CacheItem

  get name(): string {
    return this.id.slice(this.cluster.length + this.namespace.length + 2)
  }

  get key(): ObjectKey {
    return { cluster: this.cluster, namespace: this.namespace, name: this.name }
  }

  get meta(): ObjectMeta {
    return this
  }

  get resourceVersion(): string {
    return String(this.revision)
  }

  get bytes(): Buffer {
    return this.#slab.subarray(this.#start, this.#start + this.length)
  }

  /** A part of the bytes; each byte is one character. */
  protected text(from: number, to: number): string {
    return this.#slab.toString('latin1', this.#start + from, this.#start + to)
  }

  copy(target: Buffer, start: number): number {
    return this.#slab.copy(target, start, this.#start, this.#start + this.length)
  }

  move(slab: Buffer, start: number): void {
    this.copy(slab, start)
    this.#slab = slab
    this.#start = start
  }
}
