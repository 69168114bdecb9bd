import { type Item, lengthOf } from './item.ts'
import type { ItemBatch } from './storage.ts'

const comma = 0x2c

type Joined = Required<Pick<ItemBatch, 'bytes' | 'annotationsAt'>>

/** A batch of selected items. `bytes` copies them together on first use. */
export class PickedBatch implements ItemBatch {
  readonly #items: readonly Item[]
  #joined: Joined | undefined

  constructor(items: readonly Item[]) {
    this.#items = items
  }
  get length(): number {
    return this.#items.length
  }
  get bytes(): Buffer {
    return this.#join().bytes
  }
  get annotationsAt(): Uint32Array | undefined {
    return this.#join().annotationsAt
  }
  [Symbol.iterator](): Iterator<Item> {
    return this.#items[Symbol.iterator]()
  }
  #join(): Joined {
    this.#joined ??= joined(this.#items)
    return this.#joined
  }
}

function joined(items: readonly Item[]): Joined {
  const target = Buffer.allocUnsafe(items.reduce((sum, item) => sum + lengthOf(item) + 1, 0))
  const at = new Uint32Array(2 * items.length)
  let end = 0
  items.forEach((item, i) => {
    if (i > 0) target[end++] = comma
    at[2 * i] = end + (item.offsets?.metadata ?? 0)
    at[2 * i + 1] = end + (item.offsets?.labels ?? 0)
    end += item.copy?.(target, end) ?? item.bytes.copy(target, end)
  })
  const isKnown = items.every(({ offsets }) => offsets !== undefined)
  return { bytes: target.subarray(0, end), annotationsAt: isKnown ? at : undefined }
}

/** Applies `change` to each item. Returns the same batch if it changes none. */
export function mapBatch(batch: ItemBatch, change: (item: Item) => Item): ItemBatch {
  let isSame = true
  const items = Array.from(batch, item => {
    const next = change(item)
    if (next !== item) isSame = false
    return next
  })
  return isSame ? batch : items
}
