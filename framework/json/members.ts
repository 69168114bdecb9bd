import { endOfString, isClosing, isOpening } from './json.ts'

const quote = 0x22
const comma = 0x2c

/** A part of JSON without white space: it starts at `from`, its value at `value`, and it ends before `to`. */
export interface JsonSpan {
  readonly from: number
  readonly value: number
  readonly to: number
}

/** The index behind the value that starts at `start`. */
export function endOfValue(bytes: Uint8Array, start: number): number {
  if (bytes[start] === quote) return endOfString(bytes, start)
  let open = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at) - 1
    else if (isOpening(byte)) open++
    else if (open === 0 && (byte === comma || isClosing(byte))) return at
    else if (isClosing(byte) && --open === 0) return at + 1
  }
  return bytes.length
}

/** The members of an object, whose first key starts at `start`. */
export function* membersIn(bytes: Uint8Array, start: number): Generator<JsonSpan, void> {
  for (let from = start; bytes[from] === quote; ) {
    const value = endOfString(bytes, from) + 1
    const to = endOfValue(bytes, value)
    yield { from, value, to }
    if (bytes[to] !== comma) return
    from = to + 1
  }
}

/** The member with this key, a text in JSON, of the object that starts at `start`. */
export function memberOf(bytes: Buffer, start: number, key: Buffer): JsonSpan | undefined {
  for (const span of membersIn(bytes, start + 1)) if (hasKey(bytes, span, key)) return span
  return undefined
}

/** The items of a list, the first of which starts at `start`. */
export function* elementsIn(bytes: Uint8Array, start: number): Generator<JsonSpan, void> {
  for (let from = start; !isClosing(bytes[from]); ) {
    const to = endOfValue(bytes, from)
    yield { from, value: from, to }
    if (bytes[to] !== comma) return
    from = to + 1
  }
}

/** Whether the key of a member is this one: a text in JSON, with its quotes. */
export const hasKey = (bytes: Buffer, { from, value }: JsonSpan, key: Buffer): boolean =>
  value - 1 - from === key.length && bytes.compare(key, 0, key.length, from, value - 1) === 0

/** The bytes [from, to), without which a member or item is gone with its comma. */
export type Cut = readonly [from: number, to: number]

export function cutOf(bytes: Uint8Array, { from, to }: JsonSpan): Cut {
  if (bytes[to] === comma) return [from, to + 1]
  return bytes[from - 1] === comma ? [from - 1, to] : [from, to]
}

/** The bytes without parts of them, which are in their order. */
export function withoutCuts(bytes: Buffer, cuts: readonly Cut[]): Buffer {
  let at = 0
  const kept = cuts.map(([from, to]) => {
    const piece = bytes.subarray(at, from)
    at = to
    return piece
  })
  return Buffer.concat([...kept, bytes.subarray(at)])
}
