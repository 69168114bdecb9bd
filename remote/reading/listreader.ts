import type { Item } from '../../framework/contract/item.ts'
import type { ItemBatch, ListMeta } from '../../framework/contract/storage.ts'
import type { ClusterScope } from '../../framework/meta/object.ts'
import { sentItem } from './item.ts'
import { DepthScanner } from './scanner.ts'
import { mostAround, mostOfElement, Unfinished } from './unfinished.ts'

/** The metadata of a list. */
export interface ListHead {
  readonly kind: string
  readonly metadata: Partial<ListMeta>
}

/** The batches of a list, as they arrive. */
export type Batches = AsyncGenerator<ItemBatch, ListHead, undefined>

interface Document extends Partial<ListHead> {
  readonly apiVersion?: string
}

const openingBracket = 0x5b
const comma = 0x2c
const bare = Buffer.from('{"metadata":')

/** The range of an item in a piece. */
interface Span {
  readonly from: number
  readonly to: number
}

/** Consecutive items in a piece, with the commas between them, so that they are forwarded as one run. */
class Run implements ItemBatch {
  readonly length: number
  readonly bytes: Buffer
  readonly #piece: Buffer
  readonly #spans: readonly Span[]
  readonly #cluster: ClusterScope

  constructor(piece: Buffer, spans: readonly Span[], cluster: ClusterScope) {
    this.length = spans.length
    this.bytes = piece.subarray(spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0)
    this.#piece = piece
    this.#spans = spans
    this.#cluster = cluster
  }
  *[Symbol.iterator](): Generator<Item> {
    for (const { from, to } of this.#spans) yield sentItem(this.#piece.subarray(from, to), this.#cluster)
  }
}

/**
 * Parses a list as it arrives. The items are not decoded; the rest of the document is small and is parsed at the end.
 */
export class ListReader {
  readonly #cluster: ClusterScope
  readonly #scanner = new DepthScanner()
  /** The bytes before and after the items. */
  readonly #envelope = new Unfinished('what a list has besides its items', mostAround)
  /** The beginning of an incomplete item. */
  readonly #rest = new Unfinished('an item', mostOfElement)
  #phase: 'before' | 'elements' | 'behind' = 'before'
  /**
   * `apiVersion` and `kind` of the items when the items do not have them: Kubernetes omits them in lists of its own
   * kinds.
   */
  #type: Buffer | undefined

  constructor(cluster: ClusterScope) {
    this.#cluster = cluster
  }

  /** The items that are complete with this piece. Throws `ResponseTooLarge`. */
  push(piece: Buffer): ItemBatch | undefined {
    if (this.#phase === 'behind') {
      this.#envelope.push(piece)
      return undefined
    }
    if (this.#phase === 'elements') return this.#elements(piece)
    const start = this.#findElements(piece)
    if (start === undefined) return undefined
    const head = this.#envelope.take()
    this.#type = typeIn(head)
    this.#envelope.push(head)
    return this.#elements(piece.subarray(start))
  }

  /** Call at the end. Throws `SyntaxError` when the bytes were not a complete list. */
  finish(): ListHead {
    const document = JSON.parse(this.#envelope.take(this.#rest.take()).toString()) as Document
    return { kind: document.kind ?? '', metadata: document.metadata ?? {} }
  }

  /** `items` is the only array among the members of a list. */
  #findElements(piece: Buffer): number | undefined {
    let at = -1
    do {
      at = this.#scanner.nextBracket(piece, at + 1)
      if (at < 0) {
        this.#envelope.push(piece)
        return undefined
      }
    } while (this.#scanner.depth !== 2 || piece[at] !== openingBracket)
    this.#envelope.push(piece.subarray(0, at + 1))
    this.#phase = 'elements'
    return at + 1
  }

  #elements(piece: Buffer): ItemBatch | undefined {
    const { ends, close } = this.#scanner.elementsIn(piece)
    const before = this.#rest.length
    const last = ends.at(-1)
    const bytes = last === undefined ? undefined : this.#rest.take(piece.subarray(0, last))
    if (close === undefined) this.#rest.push(piece.subarray(last ?? 0))
    else {
      this.#rest.take()
      this.#phase = 'behind'
      this.#envelope.push(piece.subarray(close))
    }
    return bytes && this.#batch(bytes, spansIn(bytes, ends, before))
  }

  #batch(bytes: Buffer, spans: readonly Span[]): ItemBatch {
    const type = this.#type
    if (type === undefined || !spans.some(({ from }) => isBare(bytes, from)))
      return new Run(bytes, spans, this.#cluster)
    return spans.map(({ from, to }) => sentItem(typed(bytes.subarray(from, to), type), this.#cluster))
  }
}

/** `ends`: of the items, in a piece that begins behind so many bytes. */
function spansIn(bytes: Buffer, ends: readonly number[], before: number): readonly Span[] {
  return ends.map((end, i) => {
    const behind = i === 0 ? 0 : (ends[i - 1] ?? 0) + before
    return { from: startOf(bytes, behind), to: end + before }
  })
}

/** The index after whitespace and the comma between items. */
function startOf(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === comma || (bytes[at] ?? 0x7b) <= 0x20) at++
  return at
}

/** `"kind":"ConfigMap","apiVersion":"v1",` for a list with `"kind":"ConfigMapList"`. */
function typeIn(head: Buffer): Buffer | undefined {
  try {
    const { kind, apiVersion } = JSON.parse(`${head}]}`) as Document
    if (kind === undefined || apiVersion === undefined) return undefined
    const type = `{"kind":${JSON.stringify(kind.replace(/List$/, ''))},"apiVersion":${JSON.stringify(apiVersion)},`
    return Buffer.from(type)
  } catch {
    return undefined
  }
}

const isBare = (bytes: Buffer, from: number): boolean => bytes.subarray(from, from + bare.length).equals(bare)

const typed = (element: Buffer, type: Buffer): Buffer =>
  isBare(element, 0) ? Buffer.concat([type, element.subarray(1)]) : element
