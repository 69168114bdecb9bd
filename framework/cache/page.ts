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
  #joined: Joined | undefined
  /** Lists read the items without apiVersion and kind. */
  #isUntyped = false

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
    this.#joined = undefined
    this.loose++
  }

  /** The encoded items [from, to), joined by commas. For all items it is always the same buffer. */
  bytes(from: number, to: number): Buffer {
    this.#isUntyped = false
    const joined = this.#joined?.left.length === 0 ? this.#joined : this.join()
    return part(joined, from, to)
  }

  /**
   * Like `bytes`, without apiVersion and kind of the items; undefined if these differ. The page then holds its items
   * without them, until `bytes` is called: the lists of a resource use only one of both.
   */
  untyped(from: number, to: number): Buffer | undefined {
    const joined = this.#isUntyped && this.#joined ? this.#joined : this.#joinUntyped()
    return joined.left.length === 0 ? undefined : part(joined, from, to)
  }

  #joinUntyped(): Joined {
    this.#isUntyped = true
    return this.join()
  }

  /** Moves all items into one slab, so that old slabs can be freed. */
  join(): Joined {
    const left = (this.#isUntyped && this.#commonType()) || noBytes
    const starts: number[] = []
    let length = 0
    for (const item of this.items) {
      starts.push(length)
      length += item.length - left.length + 1
    }
    const slab = Buffer.allocUnsafeSlow(Math.max(0, length - 1))
    this.items.forEach((item, i) => {
      const start = starts[i] ?? 0
      if (i > 0) slab[start - 1] = comma
      item.move(slab, start, left)
    })
    this.#joined = { slab, starts, left }
    this.loose = 0
    return this.#joined
  }

  /** The bytes of apiVersion and kind with which all items begin, in a buffer of their own. */
  #commonType(): Buffer | undefined {
    const [first, ...others] = this.items
    const type = first?.type
    return type && others.every(item => item.type?.equals(type)) ? Buffer.from(type) : undefined
  }

  /** Joins the bytes if more than half of the items have their own slabs. */
  tidy(): void {
    if (this.items.length >= pageSize / 8 && this.loose * 2 > this.items.length) this.join()
  }
}

/** All items of a page in one slab. */
interface Joined {
  readonly slab: Buffer
  readonly starts: readonly number[]
  /** The bytes behind the brace of each item that are left out. */
  readonly left: Buffer
}

const noBytes: Buffer = Buffer.alloc(0)
/** The bytes that are left out of an item that has left its page: none. */
const departed: Buffer = Buffer.alloc(0)
/** Bytes of a slab that an item may keep in memory alone. */
const smallSlab = 8 * 1024

function part({ slab, starts }: Joined, from: number, to: number): Buffer {
  if (to - from === starts.length) return slab
  return slab.subarray(starts[from], (starts[to] ?? slab.length + 1) - 1)
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
  /** The bytes of apiVersion and kind in canonical bytes, with their commas. */
  readonly type: Buffer | undefined
  /**
   * Copies the bytes to `slab` at `start`, and stores that place instead of the old one. `left`: the `type` of the item,
   * which is then left out, or empty.
   */
  move(slab: Buffer, start: number, left: Buffer): void
  /** The object was changed or deleted: the item takes its bytes out of the slab of its neighbors, and stays there. */
  leave(): void
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

const openingBrace = 0x7b
const metadataKey = '"metadata":{'

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
  /** Bytes behind the opening brace that the slab does not have. */
  #left: Buffer = noBytes

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
    if (this.#left.length === 0) return this.#slab.subarray(this.#start, this.#start + this.length)
    const bytes = Buffer.allocUnsafe(this.length)
    this.copy(bytes, 0)
    return bytes
  }

  get type(): Buffer | undefined {
    if (this.#left.length > 0) return this.#left
    const { offsets }: CacheItem = this
    const end = (offsets?.metadata ?? 0) - metadataKey.length
    return end > 1 ? this.#slab.subarray(this.#start + 1, this.#start + end) : undefined
  }

  /** A part of the bytes behind the type; each byte is one character. */
  protected text(from: number, to: number): string {
    const origin = this.#start - this.#left.length
    return this.#slab.toString('latin1', origin + from, origin + to)
  }

  /** Whether a part of the bytes behind the type is `text`, of ASCII characters. Cheaper than `text`. */
  protected hasAt(from: number, text: string): boolean {
    const origin = this.#start - this.#left.length + from
    for (let i = 0; i < text.length; i++) if (this.#slab[origin + i] !== text.charCodeAt(i)) return false
    return true
  }

  copy(target: Buffer, start: number): number {
    const left = this.#left
    if (left.length === 0) return this.#slab.copy(target, start, this.#start, this.#start + this.length)
    target[start] = openingBrace
    left.copy(target, start + 1)
    this.#copyRest(target, start + 1 + left.length, left)
    return this.length
  }

  move(slab: Buffer, start: number, left: Buffer): void {
    if (left.length === 0) this.copy(slab, start)
    else {
      slab[start] = openingBrace
      this.#copyRest(slab, start + 1, left)
    }
    if (this.#left === departed) return
    this.#slab = slab
    this.#start = start
    this.#left = left
  }

  leave(): void {
    if (this.#left.length > 0 || this.#slab.length > this.length + smallSlab)
      this.move(Buffer.allocUnsafeSlow(this.length), 0, noBytes)
    this.#left = departed
  }

  /** Copies the bytes behind the type. */
  #copyRest(target: Buffer, start: number, type: Buffer): void {
    const from = this.#start + 1 + type.length - this.#left.length
    this.#slab.copy(target, start, from, this.#start + this.length - this.#left.length)
  }
}
