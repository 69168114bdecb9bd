import type { Item } from './item.ts'

/** Computes a small value of an item once for each of its states: decoding all objects of a logical cluster may take a gigabyte. */
export function oncePerItem<I extends Item, T>(compute: (item: I) => T): (item: I) => T {
  const known = new WeakMap<I, { readonly value: T }>()
  return item => {
    const found = known.get(item) ?? { value: compute(item) }
    known.set(item, found)
    return found.value
  }
}
