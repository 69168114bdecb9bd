import type { CacheItem } from './item.ts'

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
