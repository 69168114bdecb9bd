/**
 * Called for each member in the order of the text, with its path (`spec.size`, `items[0].a`) and whether its object has the key
 * already. Returns false to skip the members below it.
 */
export type MemberVisitor = (path: string, isRepeated: boolean) => boolean

interface Reader {
  readonly text: string
  readonly numberOf: (literal: string) => unknown
  at: number
  visit: MemberVisitor
}

const skipMembers: MemberVisitor = () => false

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

/**
 * Decodes JSON without the losses of `JSON.parse`: integers beyond 2^53 become `bigint` if they fit 64 bits, and `visit` gets
 * repeated keys, of which the last one wins. Throws `SyntaxError` with the message of Go's decoder (`scanner.go` of
 * encoding/json; rules.md 2.38), also for numbers beyond the range of a double. It recurses: callers limit the depth.
 */
export const parseExact = (text: string, visit: MemberVisitor = skipMembers): unknown =>
  readDocument({ text, numberOf, at: 0, visit })

/** The error of Go's decoder for bytes that are not JSON; undefined for JSON. Go reads bytes: one byte is one character. */
export function jsonError(bytes: Buffer): string | undefined {
  try {
    readDocument({ text: bytes.toString('latin1'), numberOf: () => 0, at: 0, visit: skipMembers })
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

function readDocument(reader: Reader): unknown {
  const value = readValue(reader, '')
  if (peek(reader) !== '') throw unexpected(reader, 'after top-level value')
  return value
}

function readValue(reader: Reader, path: string): unknown {
  const first = takeOne(reader, '{["-0123456789tfn', 'looking for beginning of value')
  switch (first) {
    case '{':
      return readObject(reader, path)
    case '[':
      return readArray(reader, path)
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

function readArray(reader: Reader, path: string): unknown[] {
  const items: unknown[] = []
  if (isClosed(reader, ']')) return items
  do items.push(readValue(reader, `${path}[${items.length}]`))
  while (takeOne(reader, ',]', 'after array element') === ',')
  return items
}

function readObject(reader: Reader, path: string): Record<string, unknown> {
  const members = new Map<string, unknown>()
  if (isClosed(reader, '}')) return {}
  const { visit } = reader
  do {
    takeOne(reader, '"', 'looking for beginning of object key string')
    const key = readString(reader)
    takeOne(reader, ':', 'after object key')
    const field = path === '' ? key : `${path}.${key}`
    reader.visit = visit(field, members.has(key)) ? visit : skipMembers
    members.set(key, readValue(reader, field))
    reader.visit = visit
  } while (takeOne(reader, ',}', 'after object key:value pair') === ',')
  return Object.fromEntries(members)
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
