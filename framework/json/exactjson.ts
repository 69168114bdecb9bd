/**
 * Told of each member in the order of the text: its path, such as `spec.size` or `items[0].a`, and whether its object has
 * had it before. False: nothing is told of what is in it.
 */
export type Meet = (path: string, isRepeated: boolean) => boolean

interface Reader {
  readonly text: string
  at: number
  meet: Meet
}

const notLooking: Meet = () => false

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/**
 * Reads text that `JSON.parse` has accepted, with what `JSON.parse` loses: integers beyond 2^53 (as `bigint`, when they
 * fit 64 bits) and repeated keys (the last one wins). Throws `SyntaxError` for numbers beyond a double's range.
 */
export const parseExact = (text: string, meet: Meet = notLooking): unknown =>
  readValue({ text, at: 0, meet }, '')

const spaces = /[ \t\n\r]*/y
const token = /[^,\]}\s]+/y
const stringToken = /"(?:[^"\\]|\\.)*"/y

function take(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)?.[0] ?? ''
  reader.at += found.length
  return found
}

/** Skips white space and returns the next character without taking it. */
function peek(reader: Reader): string {
  take(reader, spaces)
  return reader.text.charAt(reader.at)
}

function readValue(reader: Reader, path: string): unknown {
  switch (peek(reader)) {
    case '{':
      return readObject(reader, path)
    case '[':
      return readArray(reader, path)
    case '"':
      return readString(reader)
    default:
      return readScalar(take(reader, token))
  }
}

const readString = (reader: Reader): string => JSON.parse(take(reader, stringToken))

function readScalar(literal: string): unknown {
  const value: unknown = JSON.parse(literal)
  if (typeof value !== 'number') return value
  if (!Number.isFinite(value)) throw new SyntaxError(`number ${literal} is out of range`)
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(literal)) return value
  const integer = BigInt(literal)
  return integer >= minInt64 && integer <= maxInt64 ? integer : value
}

function readArray(reader: Reader, path: string): unknown[] {
  const items: unknown[] = []
  reader.at++
  while (peek(reader) !== ']') {
    if (peek(reader) === ',') reader.at++
    items.push(readValue(reader, `${path}[${items.length}]`))
  }
  reader.at++
  return items
}

function readObject(reader: Reader, path: string): Record<string, unknown> {
  const members = new Map<string, unknown>()
  const { meet } = reader
  reader.at++
  while (peek(reader) !== '}') {
    if (peek(reader) === ',') reader.at++
    peek(reader)
    const key = readString(reader)
    const field = path === '' ? key : `${path}.${key}`
    reader.meet = meet(field, members.has(key)) ? meet : notLooking
    peek(reader)
    reader.at++
    members.set(key, readValue(reader, field))
    reader.meet = meet
  }
  reader.at++
  return Object.fromEntries(members)
}
