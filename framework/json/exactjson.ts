import { keepKeys } from './values.ts'

/**
 * Called for each member in the order of the text, with its path (`spec.size`, `items[0].a`) and whether its object has the key
 * already. Returns false to skip the members below it.
 */
export type MemberVisitor = (path: string, isRepeated: boolean) => boolean

/** Values of one step: they take less than a millisecond. */
const valuesOfStep = 256

/**
 * The most members of one object in a body, and in the result of a patch. The engine lists, copies and encodes the members of one
 * object in one step, which takes some tens of milliseconds for so many.
 */
export const mostMembers = 50_000

/** An object has more members than it may have; the message is the path of the object, which is empty for the outermost. */
export class TooManyMembers extends Error {
  override readonly name = 'TooManyMembers'
}

interface Reader {
  readonly text: string
  readonly numberOf: (literal: string) => unknown
  at: number
  visit: MemberVisitor
  /** The most members of one object. */
  readonly members: number
  /** Values until the step ends. */
  left: number
}

const skipMembers: MemberVisitor = () => false

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/**
 * Decodes JSON in steps, without the losses of `JSON.parse`: integers beyond 2^53 become `bigint` if they fit 64 bits, and `visit` gets
 * repeated keys, of which the last one wins. Throws `SyntaxError` with the message of Go's decoder (`scanner.go` of
 * encoding/json; rules.md 2.38), also for numbers beyond the range of a double, and `TooManyMembers` for an object with more than
 * `members`. It recurses: callers limit the depth.
 */
export const parseExactSteps = (
  text: string,
  visit: MemberVisitor = skipMembers,
  members = Number.POSITIVE_INFINITY,
): Generator<void, unknown> => readDocument({ text, numberOf, at: 0, visit, members, left: valuesOfStep })

/** The error of Go's decoder for bytes that are not JSON, in steps; undefined for JSON. Go reads bytes: one byte is one character. */
export function* jsonErrorSteps(bytes: Buffer): Generator<void, string | undefined> {
  const text = bytes.toString('latin1')
  try {
    const members = Number.POSITIVE_INFINITY
    yield* readDocument({ text, numberOf: () => 0, at: 0, visit: skipMembers, members, left: valuesOfStep })
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}

/** Inside a token, Go reads the end of the text as a space. */
const invalid = ({ text, at }: Reader, where: string): SyntaxError =>
  new SyntaxError(`invalid character '${escaped(text[at] ?? ' ')}' ${where}`)

const unexpected = (reader: Reader, where: string): SyntaxError =>
  reader.at < reader.text.length ? invalid(reader, where) : new SyntaxError('unexpected end of JSON input')

function escaped(character: string): string {
  if (character === '"') return character
  if (character === "'") return "\\'"
  const code = character.charCodeAt(0)
  return code < 0x20 && !/[\b\f\n\r\t]/.test(character)
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : JSON.stringify(character).slice(1, -1)
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** Skips white space and returns the next character without taking it; '' at the end. */
function peek(reader: Reader): string {
  while (isSpace(reader.text.charCodeAt(reader.at))) reader.at++
  return reader.text.charAt(reader.at)
}

/** Skips white space and takes one of these characters. */
function takeOne(reader: Reader, characters: string, where: string): string {
  const found = peek(reader)
  if (found === '' || !characters.includes(found)) throw unexpected(reader, where)
  reader.at++
  return found
}

function takeAll(reader: Reader, token: RegExp): void {
  token.lastIndex = reader.at
  if (token.test(reader.text)) reader.at = token.lastIndex
}

/** Takes a token that is not empty. */
function takeSome(reader: Reader, token: RegExp, where: string): void {
  const start = reader.at
  takeAll(reader, token)
  if (reader.at === start) throw invalid(reader, where)
}

function takeOptional(reader: Reader, token: RegExp): boolean {
  const start = reader.at
  takeAll(reader, token)
  return reader.at > start
}

function* readDocument(reader: Reader): Generator<void, unknown> {
  const first = takeFirst(reader)
  const value = isContainer(first) ? yield* readContainer(reader, first, '') : readScalar(reader, first)
  if (peek(reader) !== '') throw unexpected(reader, 'after top-level value')
  return value
}

/** Takes the first character of a value. */
const takeFirst = (reader: Reader): string =>
  takeOne(reader, '{["-0123456789tfn', 'looking for beginning of value')

const isContainer = (first: string): boolean => first === '{' || first === '['

function readScalar(reader: Reader, first: string): unknown {
  switch (first) {
    case '"':
      return readString(reader)
    case 't':
    case 'f':
    case 'n':
      return readLiteral(reader, first)
    default:
      return readNumber(reader, first)
  }
}

const readContainer = (reader: Reader, first: string, path: string): Generator<void, unknown> =>
  first === '{' ? readObject(reader, path) : readArray(reader, path)

/** To be called for each value: whether a step ends with it. */
function isStepDone(reader: Reader): boolean {
  if (--reader.left > 0) return false
  reader.left = valuesOfStep
  return true
}

function* readArray(reader: Reader, path: string): Generator<void, unknown[]> {
  const items: unknown[] = []
  if (isClosed(reader, ']')) return items
  do {
    const first = takeFirst(reader)
    items.push(
      isContainer(first)
        ? yield* readContainer(reader, first, `${path}[${items.length}]`)
        : readScalar(reader, first),
    )
    if (isStepDone(reader)) yield
  } while (takeOne(reader, ',]', 'after array element') === ',')
  return items
}

function* readObject(reader: Reader, path: string): Generator<void, Record<string, unknown>> {
  const object: Record<string, unknown> = {}
  if (isClosed(reader, '}')) return object
  const { visit } = reader
  const keys: string[] = []
  do {
    takeOne(reader, '"', 'looking for beginning of object key string')
    const key = readString(reader)
    takeOne(reader, ':', 'after object key')
    const field = path === '' ? key : `${path}.${key}`
    const isRepeated = Object.hasOwn(object, key)
    if (!isRepeated && keys.push(key) > reader.members) throw new TooManyMembers(path)
    reader.visit = visit(field, isRepeated) ? visit : skipMembers
    const first = takeFirst(reader)
    const value = isContainer(first) ? yield* readContainer(reader, first, field) : readScalar(reader, first)
    setMember(object, key, value)
    reader.visit = visit
    if (isStepDone(reader)) yield
  } while (takeOne(reader, ',}', 'after object key:value pair') === ',')
  keepKeys(object, keys)
  return object
}

/** As `JSON.parse` does: an assignment to `__proto__` makes no member. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

function isClosed(reader: Reader, bracket: string): boolean {
  if (peek(reader) !== bracket) return false
  reader.at++
  return true
}

const plainText = /[ !#-[\]-\uffff]+/y
const hexDigit = /[0-9a-fA-F]/y

function readString(reader: Reader): string {
  const start = reader.at - 1
  for (;;) {
    takeAll(reader, plainText)
    const next = reader.text.charAt(reader.at)
    if (next !== '"' && next !== '\\') throw unexpected(reader, 'in string literal')
    reader.at++
    if (next === '"') return JSON.parse(reader.text.slice(start, reader.at))
    readEscape(reader)
  }
}

function readEscape(reader: Reader): void {
  const code = reader.text.charAt(reader.at)
  if (code === '' || !'bfnrtu"\\/'.includes(code)) throw invalid(reader, 'in string escape code')
  reader.at++
  if (code !== 'u') return
  for (let digit = 0; digit < 4; digit++) takeSome(reader, hexDigit, 'in \\u hexadecimal character escape')
}

const literals = { t: ['true', true], f: ['false', false], n: ['null', null] } as const

function readLiteral(reader: Reader, first: keyof typeof literals): boolean | null {
  const [literal, value] = literals[first]
  for (const letter of literal.slice(1)) {
    if (reader.text[reader.at] !== letter)
      throw invalid(reader, `in literal ${literal} (expecting '${letter}')`)
    reader.at++
  }
  return value
}

const digits = /[0-9]+/y
const point = /\./y
const exponent = /[eE][+-]?/y

function readNumber(reader: Reader, first: string): unknown {
  const start = reader.at - 1
  if (first === '-') takeSome(reader, /[0-9]/y, 'in numeric literal')
  if (reader.text[reader.at - 1] !== '0') takeAll(reader, digits)
  if (takeOptional(reader, point)) takeSome(reader, digits, 'after decimal point in numeric literal')
  if (takeOptional(reader, exponent)) takeSome(reader, digits, 'in exponent of numeric literal')
  return reader.numberOf(reader.text.slice(start, reader.at))
}

function numberOf(literal: string): number | bigint {
  const value = Number(literal)
  if (!Number.isFinite(value)) throw new SyntaxError(`number ${literal} is out of range`)
  if (Number.isSafeInteger(value) || !/^-?\d+$/.test(literal)) return value
  const integer = BigInt(literal)
  return integer >= minInt64 && integer <= maxInt64 ? integer : value
}
