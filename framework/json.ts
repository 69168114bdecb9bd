import { parseExact } from './exactjson.ts'

/** How deep a document may nest: far above any schema, far below what overflows the stack of a recursive reader. */
export const maxDepth = 256

/** What one pass over the bytes of a JSON text tells without building anything. Meaningless for text that is not JSON. */
interface Survey {
  /** Object members, repeated keys counted each time. */
  readonly members: number
  readonly depth: number
  /** There is a number that `JSON.parse` may change: 16 digits or more, or an exponent. */
  readonly exact: boolean
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39
const opens = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b
const closes = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d

/** The index of the quote that ends the string which starts at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

export function survey(bytes: Uint8Array): Survey {
  let members = 0
  let open = 0
  let depth = 0
  let digits = 0
  let exact = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (isDigit(byte)) {
      if (++digits >= 16) exact = true
      continue
    }
    if (digits > 0 && (byte === 0x65 || byte === 0x45)) exact = true
    digits = 0
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === colon) members++
    else if (opens(byte)) depth = Math.max(depth, ++open)
    else if (closes(byte)) open--
  }
  return { members, depth, exact }
}

/** Decodes JSON so that every 64-bit integer survives: those beyond 2^53 become `bigint`. Throws `SyntaxError`. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  const value: unknown = JSON.parse(text)
  return survey(bytes).exact ? parseExact(text).value : value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const unsorted = 1
const large = 2

/** Whether a value has unsorted keys or bigints somewhere: nearly never, so that one look saves copying it. */
function oddities(value: unknown): number {
  if (typeof value === 'bigint') return large
  if (typeof value !== 'object' || value === null) return 0
  let found = 0
  if (Array.isArray(value)) {
    for (const item of value) found |= oddities(item)
    return found
  }
  let previous = ''
  for (const key in value) {
    if (key < previous) found |= unsorted
    previous = key
    found |= oddities((value as Record<string, unknown>)[key])
  }
  return found
}

/** A copy of the value with sorted keys at every level. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map(key => [key, sorted(value[key])]))
}

/** Like `JSON.stringify`, and it writes bigints as integers. */
function write(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${write(member)}`).join(',')}}`
}

/** JSON with the keys in the order they have; bigints as integers, and then always on one line. */
export const formatJson = (value: unknown, indent = 0): string =>
  oddities(value) & large ? write(value) : JSON.stringify(value, undefined, indent)

/** JSON on one line with sorted keys at every level, so that equal objects have equal text (chapter 40, rule 1.31). */
export function canonicalJson(value: unknown): string {
  const found = oddities(value)
  const ordered = found & unsorted ? sorted(value) : value
  return found & large ? write(ordered) : JSON.stringify(ordered)
}
