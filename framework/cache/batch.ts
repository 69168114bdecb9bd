import { PickedBatch } from '../contract/batch.ts'
import type { Item } from '../contract/item.ts'
import type { ItemBatch } from '../contract/storage.ts'
import type { CacheItem } from './item.ts'
import type { PageRun } from './pages.ts'

/** A run of neighbors, whose bytes are contiguous. */
class RunBatch implements ItemBatch {
  readonly length: number
  readonly #run: PageRun

  constructor(run: PageRun) {
    this.#run = run
    this.length = run.to - run.from
  }

  get bytes(): Buffer {
    return this.#run.page.bytes(this.#run.from, this.#run.to)
  }

  get annotationsAt(): Uint32Array | undefined {
    const { page, from, to } = this.#run
    const at = new Uint32Array(2 * this.length)
    let start = 0
    for (let i = from; i < to; i++) {
      const { offsets, length = 0 } = page.items[i] ?? {}
      if (offsets === undefined) return undefined
      at[2 * (i - from)] = start + offsets.metadata
      at[2 * (i - from) + 1] = start + offsets.labels
      start += length + 1
    }
    return at
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#run.page.items.slice(this.#run.from, this.#run.to)[Symbol.iterator]()
  }
}

/** At most `limit` matching items of a run, and the last item that was examined. */
export function take(
  run: PageRun,
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
