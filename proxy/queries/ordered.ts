import { comparePositions, type OrderPosition, orderIn } from '../../framework/selectors/order.ts'
import { type Elements, elementsOf, ListCutOff } from './elements.ts'
import type { MergedPage, MergedPart, PageElements } from './page.ts'
import { type OrderedElement, orderedElement } from './position.ts'
import { listFrom } from './sequence.ts'
import type { ListPlace, MergedStart } from './token.ts'

/** Objects and bytes after which a batch is sent. */
const [mostInBatch, mostBytes] = [500, 256 * 1024]

/** The objects of all shards in the order of a value. */
export async function* inOrder(page: MergedPage): PageElements {
  const { sign } = orderIn(page.orderBy)
  const readers = page.parts.map(part => new OrderedPart(part, page, sign))
  const batch: Buffer[] = []
  let last = page.start.last
  let [count, bytes] = [0, 0]
  try {
    for (;;) {
      const first = await firstOf(readers, sign)
      if (first?.current === undefined) break
      if (page.limit > 0 && count === page.limit) break
      last = first.current.position
      bytes += batch[batch.push(first.take()) - 1]?.length ?? 0
      count++
      if (batch.length < mostInBatch && bytes < mostBytes) continue
      yield batch.splice(0)
      bytes = 0
    }
    yield batch
    return following(page.start, readers, last)
  } finally {
    for (const reader of readers) reader.close()
  }
}

function following(
  start: MergedStart,
  readers: readonly OrderedPart[],
  last: OrderPosition | undefined,
): MergedStart | undefined {
  if (readers.every(({ current }) => current === undefined)) return undefined
  const places: ListPlace[] = start.places.map(() => null)
  for (const { index, current, place } of readers) if (current !== undefined) places[index] = place
  return { ...start, places, ...(last && { last }) }
}

/** The part whose next object is the first one. */
async function firstOf(readers: readonly OrderedPart[], sign: 1 | -1): Promise<OrderedPart | undefined> {
  await Promise.all(readers.map(reader => reader.read()))
  let found: OrderedPart | undefined
  for (const reader of readers) {
    if (reader.current === undefined) continue
    const { current } = found ?? {}
    if (current === undefined || comparePositions(reader.current.position, current.position, sign) < 0)
      found = reader
  }
  return found
}

/** The ordered objects of one shard, page by page of the shard. */
class OrderedPart {
  readonly #part: MergedPart
  readonly #page: MergedPage
  readonly #sign: 1 | -1
  /** The place at which the current page of the shard begins. */
  place: string
  current: OrderedElement | undefined
  #waiting: readonly Buffer[] = []
  /** The index of the next waiting element. */
  #at = 0
  #elements: Elements | undefined
  /** The last object that was read, or that of the page before. */
  #last: OrderPosition | undefined
  /** Whether the current response has had a new object. */
  #hasNew = false
  #isOver = false

  constructor(part: MergedPart, page: MergedPage, sign: 1 | -1) {
    this.#part = part
    this.#page = page
    this.#sign = sign
    this.place = page.start.places[part.index] ?? ''
    this.#last = page.start.last
  }

  get index(): number {
    return this.#part.index
  }

  /** The current object, as it is sent. */
  take(): Buffer {
    const { bytes } = this.current as OrderedElement
    this.current = undefined
    return this.#part.aligned(bytes)
  }

  /** Reads the next object, unless there is a current one. Objects that were read before are left out. */
  async read(): Promise<void> {
    while (this.current === undefined && !this.#isOver) {
      const next = this.#waiting[this.#at++]
      if (next === undefined) await this.#more()
      else this.#pass(orderedElement(next, this.#part))
    }
  }

  #pass(element: OrderedElement): void {
    const { position } = element
    if (this.#last !== undefined && comparePositions(position, this.#last, this.#sign) <= 0) return
    this.#last = position
    this.#hasNew = true
    this.current = element
  }

  close(): void {
    void this.#elements?.return({ kind: '', apiVersion: '' })
  }

  async #more(): Promise<void> {
    const elements = this.#elements ?? (await this.#open())
    this.#elements = elements
    const next = await elements.next().catch((error: unknown) => this.#askAgain(error))
    if (next !== undefined && !next.done) {
      this.#waiting = next.value
      this.#at = 0
      return
    }
    this.#elements = undefined
    if (next === undefined) return
    const following = next.value.metadata?.continue ?? ''
    if (following === '') this.#isOver = true
    else this.place = following
  }

  /**
   * A list that waits while those of other shards are read is cut off by its shard. It is asked for once more, unless it was cut off
   * before it had a new object.
   */
  #askAgain(error: unknown): undefined {
    if (!(error instanceof ListCutOff && this.#hasNew)) throw error
  }

  async #open(): Promise<Elements> {
    this.#hasNew = false
    const { part, hidesObjects } = this.#part
    const parameters = listFrom(this.place, this.#part, this.#page.limit)
    return elementsOf(await part.ask({ ...parameters, ...(hidesObjects && { includeObject: 'Metadata' }) }))
  }
}
