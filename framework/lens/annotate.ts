import { type Item, relabeledItem } from '../contract/item.ts'
import type { ItemBatch } from '../contract/storage.ts'
import { annotationsIn, annotationsMember, type Texts } from '../wire/encode.ts'

/** Puts annotations into objects, in the place of their own with these names. */
export interface Annotator {
  item(item: Item): Item
  batch(batch: ItemBatch): ItemBatch
}

/**
 * The same annotations for every object. Of a batch that lies together nothing is decoded but annotations that differ
 * from those of the item before: everything around them is copied as bytes. As long as nobody needs the memory, bytes
 * that come again are not copied again: who keeps an annotator for many requests has them from the last.
 */
export function annotator(added: Texts): Annotator {
  const made = new WeakMap<Buffer, WeakRef<Buffer>>()
  const encode = (bytes: Buffer, at: Uint32Array): Buffer => {
    const known = made.get(bytes)?.deref()
    if (known !== undefined) return known
    const annotated = spliced(bytes, at, added)
    made.set(bytes, new WeakRef(annotated))
    return annotated
  }
  const item = (plain: Item): Item =>
    relabeledItem(plain, { annotations: { ...plain.meta.annotations, ...added } })
  return {
    item,
    batch(batch) {
      const { bytes, annotationsAt } = batch
      return bytes === undefined || annotationsAt === undefined
        ? Array.from(batch, item)
        : new AnnotatedBatch(batch, item, () => encode(bytes, annotationsAt))
    },
  }
}

class AnnotatedBatch implements ItemBatch {
  readonly length: number
  readonly #batch: ItemBatch
  readonly #annotated: (item: Item) => Item
  readonly #encode: () => Buffer
  #bytes: Buffer | undefined

  constructor(batch: ItemBatch, annotated: (item: Item) => Item, encode: () => Buffer) {
    this.length = batch.length
    this.#batch = batch
    this.#annotated = annotated
    this.#encode = encode
  }
  get bytes(): Buffer {
    this.#bytes ??= this.#encode()
    return this.#bytes
  }
  *[Symbol.iterator](): Generator<Item> {
    for (const item of this.#batch) yield this.#annotated(item)
  }
}

/** The bytes with `added` among the annotations that begin and end `at` these offsets. */
function spliced(bytes: Buffer, at: Uint32Array, added: Texts): Buffer {
  const memberFor = memberWith(added)
  const spare = (at.length / 2) * longestIn(added)
  // All is copied at once, and moved to its place within the little that the processor then has at hand.
  const target = Buffer.allocUnsafe(spare + bytes.length)
  target.set(bytes, spare)
  let read = spare
  let written = 0
  for (let i = 0; i < at.length; i += 2) {
    const from = spare + (at[i] ?? 0)
    const to = spare + (at[i + 1] ?? 0)
    const member = memberFor(target.toString('utf8', from, to))
    target.copyWithin(written, read, from)
    written += from - read
    target.set(member, written)
    written += member.length
    read = to
  }
  target.copyWithin(written, read)
  return target.subarray(0, written + target.length - read)
}

/** So many bytes at most does a member become longer. */
const longestIn = (added: Texts): number => Buffer.byteLength(annotationsMember(added)) + 1

/** What stands in the place of a member, both with their commas. Neighbours mostly have the same. */
function memberWith(added: Texts): (own: string) => Buffer {
  let known: string | undefined
  let member: Buffer = Buffer.alloc(0)
  return own => {
    if (own !== known) member = annotated(own, added)
    known = own
    return member
  }
}

function annotated(own: string, added: Texts): Buffer {
  const member = annotationsMember({ ...annotationsIn(own), ...added })
  return Buffer.from(member === '' ? '' : `${member},`)
}
