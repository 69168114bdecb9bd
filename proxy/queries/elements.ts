import type { OutgoingResponse } from '../../framework/net/client.ts'
import { badGateway, failureOf } from '../../framework/net/failure.ts'
import { pieces } from '../../remote/reading/listing.ts'
import { DepthScanner } from '../../remote/reading/scanner.ts'
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

/** The elements of a response, as they arrive. Throws 502 for a response that is not a list. */
export async function* elementsOf({ body }: Pick<OutgoingResponse, 'body'>): Elements {
  const reader = new ElementsReader()
  try {
    for await (const piece of pieces(body)) {
      const elements = reader.push(piece)
      if (elements.length > 0) yield elements
    }
    return reader.finish()
  } catch (error) {
    throw error instanceof SyntaxError ? badGateway('its response is not a list') : failureOf(error)
  }
}

const openingBracket = 0x5b
const none = Buffer.alloc(0)
const key = /"(?:items|rows)":$/
/** Bytes that have the key of the elements. */
const keyLength = 8

/** Parses `{…,"items":[…],…}` or `{…,"rows":[…],…}` in JSON without white space. Elements are objects, and are not decoded. */
export class ElementsReader {
  readonly #scanner = new DepthScanner()
  /** The document without its elements. */
  readonly #around: Buffer[] = []
  #rest: Buffer = none
  #phase: 'before' | 'elements' | 'behind' = 'before'

  /** The elements that are complete with this piece. */
  push(piece: Buffer): readonly Buffer[] {
    if (this.#phase === 'elements') return this.#read(Buffer.concat([this.#rest, piece]), this.#rest.length)
    const start = this.#phase === 'before' ? this.#start(piece) : undefined
    if (start === undefined) {
      this.#around.push(piece)
      return []
    }
    this.#around.push(piece.subarray(0, start))
    this.#phase = 'elements'
    return this.#read(piece.subarray(start), 0)
  }

  /** Throws `SyntaxError` when the bytes were not a complete list. */
  finish(): ListDocument {
    return JSON.parse(Buffer.concat([...this.#around, this.#rest]).toString()) as ListDocument
  }

  /** The index of the first element. */
  #start(piece: Buffer): number | undefined {
    const before = Buffer.concat(this.#around)
    for (let at = this.#scanner.nextBracket(piece, 0); at >= 0; ) {
      const isArray = this.#scanner.depth === 2 && piece[at] === openingBracket
      if (isArray && key.test(endOf(Buffer.concat([before, piece.subarray(0, at)])))) return at + 1
      at = this.#scanner.nextBracket(piece, at + 1)
    }
    return undefined
  }

  /** `scanned`: the number of bytes that the scanner has read already. */
  #read(bytes: Buffer, scanned: number): readonly Buffer[] {
    const found: Buffer[] = []
    let end = 0
    for (let at = this.#scanner.nextBracket(bytes, scanned); at >= 0; ) {
      if (this.#scanner.depth < 2) {
        this.#phase = 'behind'
        this.#rest = none
        this.#around.push(bytes.subarray(at))
        return found
      }
      if (this.#scanner.depth === 2) {
        found.push(bytes.subarray(end + (bytes[end] === comma ? 1 : 0), at + 1))
        end = at + 1
      }
      at = this.#scanner.nextBracket(bytes, at + 1)
    }
    this.#rest = bytes.subarray(end)
    return found
  }
}

const comma = 0x2c

const endOf = (bytes: Buffer): string => bytes.toString('latin1', Math.max(0, bytes.length - keyLength))
