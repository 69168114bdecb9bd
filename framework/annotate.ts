import { annotationsMember, type Offsets, type Texts } from './encode.ts'
import { encodedOf, type Item, type ObjectMeta, relabeledItem } from './item.ts'
import type { KubeObject, ObjectKey } from './object.ts'

/** Puts annotations into an item, in the place of its own with these names. */
export type Annotator = (item: Item) => Item

/** What stands in front of the labels of an encoded object, and what shall stand there. */
interface Head {
  readonly old: Buffer
  readonly next: Buffer
}

/**
 * Puts the same annotations into every item. Neighbours mostly begin alike, up to their labels: then it is known how
 * they shall begin, nothing is decoded, and what is behind is copied as bytes.
 */
export function annotator(added: Texts): Annotator {
  let head: Head | undefined
  const wholly: Annotator = item =>
    relabeledItem(item, { annotations: { ...item.meta.annotations, ...added } })
  return item => {
    if (item.beginsWith === undefined) return wholly(item)
    if (head === undefined || !item.beginsWith(head.old)) head = headOf(item, added)
    return head === undefined ? wholly(item) : new AnnotatedItem(item, head, wholly)
  }
}

/** undefined when nothing follows labels in metadata: then the commas would not fit. */
function headOf({ bytes, offsets, meta }: Item, added: Texts): Head | undefined {
  if (offsets === undefined || offsets.version === offsets.end) return undefined
  const old = Buffer.from(bytes.subarray(0, offsets.labels))
  const member = annotationsMember({ ...meta.annotations, ...added })
  const begin = old.subarray(0, offsets.metadata)
  return { old, next: Buffer.concat([begin, Buffer.from(member === '' ? '' : `${member},`)]) }
}

/** Is copied in two pieces; for everything else it is made wholly. */
class AnnotatedItem implements Item {
  readonly #item: Item
  readonly #head: Head
  readonly #wholly: Annotator
  #made: Item | undefined

  constructor(item: Item, head: Head, wholly: Annotator) {
    this.#item = item
    this.#head = head
    this.#wholly = wholly
  }
  get key(): ObjectKey {
    return this.#item.key
  }
  get meta(): ObjectMeta {
    return this.#whole.meta
  }
  get bytes(): Buffer {
    return this.#whole.bytes
  }
  get offsets(): Offsets {
    return encodedOf(this.#whole).offsets
  }
  get object(): KubeObject {
    return this.#whole.object
  }
  get length(): number {
    const { old, next } = this.#head
    return (this.#item.length ?? this.#item.bytes.length) - old.length + next.length
  }
  copy(target: Buffer, start: number, from = 0): number {
    const { old, next } = this.#head
    if (from > 0 || this.#item.copy === undefined) return this.bytes.copy(target, start, from)
    target.set(next, start)
    return next.length + this.#item.copy(target, start + next.length, old.length)
  }
  get #whole(): Item {
    this.#made ??= this.#wholly(this.#item)
    return this.#made
  }
}
