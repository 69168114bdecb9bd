import { type Item, relabeledItem } from '../contract/item.ts'
import type { ItemBatch } from '../contract/storage.ts'
import { annotationsIn, annotationsMember, type Texts } from '../wire/encode.ts'

/** Adds annotations to objects; they replace existing ones with the same names. */
export interface Annotator {
  item(item: Item): Item
  batch(batch: ItemBatch): ItemBatch
}

/**
 * A lens part that adds the same annotations to all objects. Of a contiguous batch only annotations that differ from those of the
 * previous item are decoded; the bytes around them are copied. Copies of bytes that are annotated again are reused
 * while memory allows: an annotator that is kept for several requests reuses those of earlier ones.
 *
 * ```ts
 * const annotate = annotator({ 'example.com/shown-by': 'team' })
 * const storage = viewOf(configMaps.storage, () => ({ annotate }))
 * ```
 */
export function annotator(annotations: Texts): Annotator {
  const added = { ...annotations }
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
  const annotator: Annotator = {
    item,
    batch(batch) {
      const { bytes, annotationsAt } = batch
      return bytes === undefined || annotationsAt === undefined
        ? Array.from(batch, item)
        : new AnnotatedBatch(batch, item, () => encode(bytes, annotationsAt))
    },
  }
  annotators.add(Object.freeze(annotator))
  return annotator
}

const annotators = new WeakSet<object>()

/** Whether it was made by `annotator`: other functions would get shared items. */
export const isAnnotator = (value: unknown): value is Annotator =>
  typeof value === 'object' && value !== null && annotators.has(value)

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

/** The bytes with `added` in the annotations that begin and end `at` these offsets. */
function spliced(bytes: Buffer, at: Uint32Array, added: Texts): Buffer {
  const memberFor = memberWith(added)
  const spare = (at.length / 2) * longestIn(added)
  // One copy, then short moves within it, while it is in the processor cache.
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

/** The maximum number of bytes by which a member grows. */
const longestIn = (added: Texts): number => Buffer.byteLength(annotationsMember(added)) + 1

/** The replacement of a member, both with their commas. Neighbors mostly have the same member. */
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
