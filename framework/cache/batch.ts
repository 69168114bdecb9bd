import type { Item } from '../item.ts'
import type { ItemBatch } from '../storage.ts'
import type { CacheItem } from './item.ts'
import type { Run } from './pages.ts'

const comma = 0x2c

/** A run of neighbours: their bytes lie together. */
class RunBatch implements ItemBatch {
  readonly length: number
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
    this.length = run.to - run.from
  }

  get bytes(): Buffer {
    return this.#run.page.bytes(this.#run.from, this.#run.to)
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#run.page.items.slice(this.#run.from, this.#run.to)[Symbol.iterator]()
  }
}

/** Items from here and there: their bytes are copied together when somebody wants them so. */
class PickedBatch implements ItemBatch {
  readonly #items: readonly CacheItem[]

  constructor(items: readonly CacheItem[]) {
    this.#items = items
  }

  get length(): number {
    return this.#items.length
  }

  get bytes(): Buffer {
    const length = this.#items.reduce((sum, item) => sum + item.length + 1, -1)
    const bytes = Buffer.allocUnsafe(Math.max(0, length))
    let at = 0
    for (const item of this.#items) {
      if (at > 0) bytes[at++] = comma
      at += item.copy(bytes, at)
    }
    return bytes
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items[Symbol.iterator]()
  }
}

/** At most `limit` of the items of a run that match, and the last item that was looked at. */
export function take(
  run: Run,
  limit: number,
  matches: ((item: CacheItem) => boolean) | undefined,
): { readonly batch: ItemBatch; readonly last: CacheItem | undefined } {
  const { page, from } = run
  if (matches === undefined) {
    const to = Math.min(run.to, from + limit)
    return { batch: new RunBatch({ page, from, to }), last: page.items[to - 1] }
  }
  const picked: CacheItem[] = []
  let to = from
  for (; to < run.to && picked.length < limit; to++) {
    const item = page.items[to]
    if (item !== undefined && matches(item)) picked.push(item)
  }
  const all = picked.length === to - from
  return { batch: all ? new RunBatch({ page, from, to }) : new PickedBatch(picked), last: page.items[to - 1] }
}
