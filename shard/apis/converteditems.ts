import { type Item, lengthOf } from '../../framework/contract/item.ts'
import { type KeptResult, KeptResults } from '../../framework/lens/keptresults.ts'

export interface KeptItem extends KeptResult {
  readonly shown: Item
}

/** Bytes. */
const mostKept = 128 * 1024 * 1024

/** Converted items of all kinds, by their version. */
export const newConvertedItems = (most = mostKept): KeptResults<KeptItem> => new KeptResults(most)

/** Bytes of items that are converted together. */
const mostInBatch = 1024 * 1024

/** The items in their order, in batches of about a megabyte. */
export function batchesOf(items: Iterable<Item>): readonly Item[][] {
  const batches: Item[][] = []
  let bytes = mostInBatch
  for (const item of items) {
    if (bytes >= mostInBatch) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)?.push(item)
    bytes += lengthOf(item)
  }
  return batches
}

/** Converts a batch of items to a version; same number, same order. */
type ConvertItems = (items: readonly Item[], version: string) => Promise<readonly Item[]>

/** The items of one kind in other versions. Each is converted once for all readers, and again when it was not kept. */
export class ConvertedItems {
  readonly #kept: KeptResults<KeptItem>
  readonly #convert: ConvertItems
  readonly #versions = new Map<string, Map<Item, Promise<Item>>>()

  constructor(kept: KeptResults<KeptItem>, convert: ConvertItems) {
    this.#kept = kept
    this.#convert = convert
  }

  /** The converted items, by the original ones. */
  async of(items: Iterable<Item>, version: string): Promise<ReadonlyMap<Item, Item>> {
    const converting = this.#versions.get(version) ?? new Map<Item, Promise<Item>>()
    this.#versions.set(version, converting)
    const found = new Map<Item, Item | Promise<Item>>()
    const missing: Item[] = []
    for (const item of items) {
      const known = this.#kept.get(converting, item)?.shown ?? converting.get(item)
      if (known === undefined) missing.push(item)
      else found.set(item, known)
    }
    for (const [item, shown] of this.#begin(missing, version, converting)) found.set(item, shown)
    const shown = await Promise.all(found.values())
    return new Map([...found.keys()].map((item, i) => [item, shown[i] ?? item]))
  }

  /** Converts one batch after the other. */
  #begin(
    items: readonly Item[],
    version: string,
    converting: Map<Item, Promise<Item>>,
  ): ReadonlyMap<Item, Promise<Item>> {
    const begun = new Map<Item, Promise<Item>>()
    let last: Promise<unknown> = Promise.resolve()
    for (const batch of batchesOf(items)) {
      const converted = last.then(() => this.#convert(batch, version))
      last = converted
      for (const [i, item] of batch.entries()) {
        const shown = converted.then(all => all[i] ?? item)
        begun.set(item, shown)
        converting.set(item, shown)
        const ends = (made?: Item): void => {
          converting.delete(item)
          if (made !== undefined) this.#kept.set(converting, item, { shown: made, size: memoryOf(made) })
        }
        shown.then(ends, () => ends())
      }
    }
    return begun
  }
}

/** Bytes: a kept item has its encoded bytes, and may have been decoded. */
const memoryOf = (item: Item): number => 1024 + 2 * lengthOf(item)
