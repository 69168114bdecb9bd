import { endOfString, isClosing, isOpening } from '../../framework/json/json.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** The index after the value that starts at `start`; the text is valid JSON. */
function endOfValue(json: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) {
      at = endOfString(json, at) - 1
      if (depth === 0) return at + 1
    } else if (isOpening(byte)) depth++
    else if (isClosing(byte)) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && byte === comma) return at
  }
  return json.length
}

const skipSpace = (json: Buffer, from: number): number => {
  let at = from
  while (isSpace(json[at])) at++
  return at
}

/** The range of the value of an object's member; undefined when there is no such member. Decodes nothing. */
export function memberRange(
  json: Buffer,
  name: string,
): { readonly from: number; readonly to: number } | undefined {
  let at = skipSpace(json, 1)
  while (json[at] === quote) {
    const end = endOfString(json, at)
    const isIt = json.toString('utf8', at + 1, end - 1) === name
    at = skipSpace(json, end)
    if (json[at] !== colon) return undefined
    const from = skipSpace(json, at + 1)
    const to = endOfValue(json, from)
    if (isIt) return { from, to }
    at = skipSpace(json, to)
    if (json[at] === comma) at = skipSpace(json, at + 1)
  }
  return undefined
}

/** The elements of the array of a list that end in a piece. */
export interface ElementEnds {
  /** The indexes behind them. */
  readonly ends: readonly number[]
  /** The index of the bracket that closes the array. */
  readonly close: number | undefined
}

/** Tracks the nesting depth of JSON that arrives in pieces; brackets in strings do not count. */
export class DepthScanner {
  depth = 0
  #inString = false
  #escaped = false

  /** The elements at depth 2 that end in the next piece; it begins in the array of a list. */
  elementsIn(piece: Buffer): ElementEnds {
    const ends: number[] = []
    for (let at = this.nextBracket(piece, 0); at >= 0; at = this.nextBracket(piece, at + 1)) {
      if (this.depth < 2) return { ends, close: at }
      if (this.depth === 2) ends.push(at + 1)
    }
    return { ends, close: undefined }
  }

  /** The index of the next bracket at or after `from`, which `depth` then includes; -1 when this piece has none. */
  nextBracket(json: Buffer, from: number): number {
    let inString = this.#inString
    let isEscaped = this.#escaped
    let at = from
    for (; at < json.length; at++) {
      const byte = json[at]
      if (inString) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) inString = false
      } else if (byte === quote) inString = true
      else if (byte === 0x7b || byte === 0x5b) {
        this.depth++
        break
      } else if (byte === 0x7d || byte === 0x5d) {
        this.depth--
        break
      }
    }
    this.#inString = inString
    this.#escaped = isEscaped
    return at < json.length ? at : -1
  }
}
