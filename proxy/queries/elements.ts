import { Pace } from '../../framework/async/awaitable.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { OutgoingResponse } from '../../framework/net/client.ts'
import { badGateway, failureOf, isStaleConnection } from '../../framework/net/failure.ts'
import { pieces } from '../../remote/reading/listing.ts'
import { DepthScanner } from '../../remote/reading/scanner.ts'
import { mostAround, mostOfElement, Unfinished } from '../../remote/reading/unfinished.ts'
import type { QueryColumn } from './columns.ts'

/** What a list or Table has besides its elements. */
export interface ListDocument {
  readonly kind: string
  readonly apiVersion: string
  /** Of Tables only. */
  readonly columnDefinitions?: readonly QueryColumn[]
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
}

/** Elements in the order of the list, as they were sent. */
export type Elements = AsyncGenerator<readonly Buffer[], ListDocument>

/** The 502 for a list whose connection was closed before its end: a shard does so with one that is not read for 15 seconds. */
export class ListCutOff extends StatusError {
  constructor(cause: unknown) {
    const { code, reason, message } = failureOf(cause)
    super(code, reason, message)
  }
}

/** The elements of a response, as they arrive. Throws 502 for a response that is not a list, or too large, and `ListCutOff`. */
export async function* elementsOf({ body }: Pick<OutgoingResponse, 'body'>): Elements {
  const reader = new ElementsReader()
  const pace = new Pace()
  try {
    for await (const piece of pieces(body)) {
      await pace.dueFor(piece)
      const elements = reader.push(piece)
      if (elements.length > 0) yield elements
    }
    return reader.finish()
  } catch (error) {
    if (isStaleConnection(error)) throw new ListCutOff(error)
    throw error instanceof SyntaxError ? badGateway('its response is not a list') : failureOf(error)
  }
}

const openingBracket = 0x5b
const key = /"(?:items|rows)":$/
/** Bytes that have the key of the elements. */
const keyLength = 8

/** Parses `{…,"items":[…],…}` or `{…,"rows":[…],…}` in JSON without white space. Elements are objects, and are not decoded. */
export class ElementsReader {
  readonly #scanner = new DepthScanner()
  /** The document without its elements. */
  readonly #around = new Unfinished('what a list has besides its elements', mostAround)
  /** The beginning of an incomplete element. */
  readonly #rest = new Unfinished('an element', mostOfElement)
  #phase: 'before' | 'elements' | 'behind' = 'before'

  /** The elements that are complete with this piece. Throws `ResponseTooLarge`. */
  push(piece: Buffer): readonly Buffer[] {
    if (this.#phase === 'elements') return this.#read(piece)
    const start = this.#phase === 'before' ? this.#start(piece) : undefined
    if (start === undefined) {
      this.#around.push(piece)
      return []
    }
    this.#around.push(piece.subarray(0, start))
    this.#phase = 'elements'
    return this.#read(piece.subarray(start))
  }

  /** Throws `SyntaxError` when the bytes were not a complete list. */
  finish(): ListDocument {
    return JSON.parse(this.#around.take(this.#rest.take()).toString()) as ListDocument
  }

  /** The index of the first element. */
  #start(piece: Buffer): number | undefined {
    const before = this.#around.take()
    this.#around.push(before)
    for (let at = this.#scanner.nextBracket(piece, 0); at >= 0; ) {
      const isArray = this.#scanner.depth === 2 && piece[at] === openingBracket
      if (isArray && key.test(endOf(before) + endOf(piece.subarray(0, at)))) return at + 1
      at = this.#scanner.nextBracket(piece, at + 1)
    }
    return undefined
  }

  #read(piece: Buffer): readonly Buffer[] {
    const { ends, close } = this.#scanner.elementsIn(piece)
    const found = ends.map((end, i) => {
      const element = this.#rest.take(piece.subarray(ends[i - 1] ?? 0, end))
      return element[0] === comma ? element.subarray(1) : element
    })
    if (close === undefined) this.#rest.push(piece.subarray(ends.at(-1) ?? 0))
    else {
      this.#rest.take()
      this.#phase = 'behind'
      this.#around.push(piece.subarray(close))
    }
    return found
  }
}

const comma = 0x2c

const endOf = (bytes: Buffer): string => bytes.toString('latin1', Math.max(0, bytes.length - keyLength))
