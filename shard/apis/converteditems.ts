import { type Item, lengthOf } from '../../framework/contract/item.ts'
import { type KeptResult, KeptResults } from '../../framework/lens/keptresults.ts'
import type { ClusterName } from '../../framework/meta/object.ts'

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

/** An item that is being converted. */
interface Begun {
  readonly shown: Promise<Item>
  /** The items that are converted together, or one batch after another. */
  readonly together: readonly Item[]
  /** The logical cluster of all of them; undefined: several. */
  readonly cluster: ClusterName | undefined
}

/** The logical cluster of all items; undefined: they are of several. */
function commonCluster(items: Iterable<Item>): ClusterName | undefined {
  let cluster: ClusterName | undefined
  for (const { key } of items) {
    if (cluster !== undefined && key.cluster !== cluster) return undefined
    cluster = key.cluster
  }
  return cluster
}

/** The items of one kind in other versions. Each is converted once for all readers, and again when it was not kept. */
export class ConvertedItems {
  readonly #kept: KeptResults<KeptItem>
  readonly #convert: ConvertItems
  readonly #versions = new Map<string, Map<Item, Begun>>()

  constructor(kept: KeptResults<KeptItem>, convert: ConvertItems) {
    this.#kept = kept
    this.#convert = convert
  }

  /**
   * The converted items, by the original ones. A reader of one logical cluster waits for no conversion of others; it rejects when its own
   * items cannot be converted.
   */
  async of(items: ReadonlySet<Item>, version: string): Promise<ReadonlyMap<Item, Item>> {
    const converting = this.#versions.get(version) ?? new Map<Item, Begun>()
    const cluster = commonCluster(items)
    this.#versions.set(version, converting)
    const found = new Map<Item, Item | Promise<Item>>()
    const missing: Item[] = []
    const begun = new Map<Item, Begun>()
    for (const item of items) {
      const kept = this.#kept.get(converting, item)?.shown
      const shared = converting.get(item)
      if (kept !== undefined) found.set(item, kept)
      else if (shared !== undefined && (cluster === undefined || shared.cluster === cluster))
        begun.set(item, shared)
      else missing.push(item)
    }
    for (const [item, shown] of this.#begin(missing, version, converting)) found.set(item, shown)
    const lost = await gathered(begun, { wanted: items, found })
    for (const [item, shown] of this.#begin(lost, version, converting)) found.set(item, shown)
    const shown = await Promise.all(found.values())
    return new Map([...found.keys()].map((item, i) => [item, shown[i] ?? item]))
  }

  /** Converts one batch after the other. */
  #begin(
    items: readonly Item[],
    version: string,
    converting: Map<Item, Begun>,
  ): ReadonlyMap<Item, Promise<Item>> {
    const begun = new Map<Item, Promise<Item>>()
    const cluster = commonCluster(items)
    let last: Promise<unknown> = Promise.resolve()
    for (const batch of batchesOf(items)) {
      const converted = last.then(() => this.#convert(batch, version))
      last = converted
      for (const [i, item] of batch.entries()) {
        const shown = converted.then(all => all[i] ?? item)
        begun.set(item, shown)
        converting.set(item, { shown, together: items, cluster })
        const ends = (made?: Item): void => {
          if (converting.get(item)?.shown === shown) converting.delete(item)
          if (made !== undefined) this.#kept.set(converting, item, { shown: made, size: memoryOf(made) })
        }
        shown.then(ends, () => ends())
      }
    }
    return begun
  }
}

interface Gathering {
  readonly wanted: ReadonlySet<Item>
  readonly found: Map<Item, Item | Promise<Item>>
}

/**
 * Puts what other readers have begun to convert into `found`. Returns the items whose conversion failed with others that this reader
 * does not want, and may not see: one of those may be the reason. Rejects when it failed with wanted ones only.
 */
async function gathered(
  begun: ReadonlyMap<Item, Begun>,
  { wanted, found }: Gathering,
): Promise<readonly Item[]> {
  const ended = await Promise.allSettled(Array.from(begun.values(), ({ shown }) => shown))
  const lost: Item[] = []
  const reasons = new Map<readonly Item[], unknown>()
  for (const [i, [item, { together }]] of [...begun].entries()) {
    const end = ended[i]
    if (end?.status === 'fulfilled') found.set(item, end.value)
    else {
      lost.push(item)
      reasons.set(together, end?.reason)
    }
  }
  for (const [together, reason] of reasons) if (together.every(item => wanted.has(item))) throw reason
  return lost
}

/** Bytes: a kept item has its encoded bytes, and may have been decoded. */
const memoryOf = (item: Item): number => 1024 + 2 * lengthOf(item)
