import type { Item, ObjectMeta } from '../contract/item.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import type { Texts } from '../wire/encode.ts'

/** Items of a page that is filled in order. */
export const pageSize = 128

/** Bytes at which such a page ends earlier: a change copies its neighbors. */
export const pageBytes = 1 << 20

const splitAt = 192
const comma = 0x2c

const lengthOf = (items: readonly CacheItem[]): number =>
  items.reduce((length, item) => length + item.length, 0)

/** Splits items into runs of half the items or half the bytes of a page, whichever is reached first. */
export function halvesOf<I extends CacheItem>(items: readonly I[]): readonly I[][] {
  const runs: I[][] = []
  let run: I[] = []
  for (const item of items) {
    run.push(item)
    if (run.length * 2 < items.length && lengthOf(run) * 2 < pageBytes) continue
    runs.push(run)
    run = []
  }
  return run.length === 0 ? runs : [...runs, run]
}

/** A run of items in order. Its bytes are joined once, when a list first needs them. */
export class Page<I extends CacheItem = CacheItem> {
  /** The snapshot builder that may change the page in place; others copy it. */
  readonly owner: object
  readonly items: I[]
  /** Items since the bytes were last joined, which have their own slabs. */
  loose: number
  /** Bytes of all items. */
  #length: number
  #slab: Buffer | undefined
  #starts: readonly number[] = []

  constructor(owner: object, items: I[], loose: number) {
    this.owner = owner
    this.items = items
    this.loose = loose
    this.#length = lengthOf(items)
  }

  /** The next item in order starts a new page. */
  get isFull(): boolean {
    return this.items.length >= pageSize || this.#length >= pageBytes
  }

  get isTooLarge(): boolean {
    return this.items.length > splitAt || (this.#length > pageBytes * 1.5 && this.items.length > 1)
  }

  /** Both pages together are at most half a page. */
  isSmallWith(other: Page<I>): boolean {
    const count = this.items.length + other.items.length
    return count <= pageSize / 2 && this.#length + other.#length <= pageBytes / 2
  }

  /** Changes the items like `Array.prototype.splice`. */
  splice(index: number, count: number, ...items: readonly I[]): void {
    const gone = this.items.splice(index, count, ...items)
    this.#length += lengthOf(items) - lengthOf(gone)
    this.#slab = undefined
    this.loose++
  }

  /** The encoded items [from, to), joined by commas. For all items it is always the same buffer. */
  bytes(from: number, to: number): Buffer {
    const slab = this.#slab ?? this.join()
    if (to - from === this.items.length) return slab
    return slab.subarray(this.#starts[from], (this.#starts[to] ?? slab.length + 1) - 1)
  }

  /** Moves all items into one slab, so that old slabs can be freed. */
  join(): Buffer {
    const starts: number[] = []
    let length = 0
    for (const item of this.items) {
      starts.push(length)
      length += item.length + 1
    }
    const slab = Buffer.allocUnsafeSlow(Math.max(0, length - 1))
    this.items.forEach((item, i) => {
      const start = starts[i] ?? 0
      if (i > 0) slab[start - 1] = comma
      item.move(slab, start)
    })
    this.#slab = slab
    this.#starts = starts
    this.loose = 0
    return slab
  }

  /** Joins the bytes if more than half of the items have their own slabs. */
  tidy(): void {
    if (this.items.length >= pageSize / 8 && this.loose * 2 > this.items.length) this.join()
  }
}

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
  /** Copies the bytes to `slab` at `start`, and stores that place instead of the old one. */
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

/** The metadata that is presented in addition to the bytes of an object. */
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
