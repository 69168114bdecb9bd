/** One byte is one character. */
interface Reader {
  readonly text: string
  at: number
}

/**
 * Where Go's decoder stops reading bytes that are no JSON, and why, in its words (chapter 40, rule 2.38); undefined for JSON.
 * It recurses: callers limit the depth.
 */
export function whyNoJson(bytes: Buffer): string | undefined {
  const reader = { text: bytes.toString('latin1'), at: 0 }
  try {
    readValue(reader)
    skipSpaces(reader)
    if (reader.at < reader.text.length) throw unexpected(reader, 'after top-level value')
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}

/** Inside of a token the end is read as a space. */
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

function take(reader: Reader, token: RegExp): string {
  token.lastIndex = reader.at
  const [found = ''] = token.exec(reader.text) ?? []
  reader.at += found.length
  return found
}

const spaces = /[ \t\r\n]*/y
const skipSpaces = (reader: Reader): string => take(reader, spaces)

/** Skips white space and takes one of these characters. */
function takeOne(reader: Reader, token: RegExp, where: string): string {
  skipSpaces(reader)
  const found = take(reader, token)
  if (found === '') throw unexpected(reader, where)
  return found
}

function readValue(reader: Reader): void {
  const first = takeOne(reader, /[{["\-0-9tfn]/y, 'looking for beginning of value')
  if (first === '{') readObject(reader)
  else if (first === '[') readArray(reader)
  else if (first === '"') readString(reader)
  else if (literals[first] !== undefined) readLiteral(reader, literals[first])
  else readNumber(reader, first)
}

function readObject(reader: Reader): void {
  if (isClosed(reader, /\}/y)) return
  do {
    takeOne(reader, /"/y, 'looking for beginning of object key string')
    readString(reader)
    takeOne(reader, /:/y, 'after object key')
    readValue(reader)
  } while (takeOne(reader, /[,}]/y, 'after object key:value pair') === ',')
}

function readArray(reader: Reader): void {
  if (isClosed(reader, /\]/y)) return
  do readValue(reader)
  while (takeOne(reader, /[,\]]/y, 'after array element') === ',')
}

function isClosed(reader: Reader, end: RegExp): boolean {
  skipSpaces(reader)
  return take(reader, end) !== ''
}

function readString(reader: Reader): void {
  for (;;) {
    take(reader, /[ !#-[\]-\xff]*/y)
    const end = take(reader, /["\\]/y)
    if (end === '"') return
    if (end === '') throw unexpected(reader, 'in string literal')
    if (takeInside(reader, /[bfnrtu"\\/]/y, 'in string escape code') !== 'u') continue
    for (let digit = 0; digit < 4; digit++)
      takeInside(reader, /[0-9a-fA-F]/y, 'in \\u hexadecimal character escape')
  }
}

function takeInside(reader: Reader, token: RegExp, where: string): string {
  const found = take(reader, token)
  if (found === '') throw invalid(reader, where)
  return found
}

const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

function readLiteral(reader: Reader, literal: string): void {
  for (const letter of literal.slice(1))
    takeInside(reader, new RegExp(letter, 'y'), `in literal ${literal} (expecting '${letter}')`)
}

function readNumber(reader: Reader, first: string): void {
  const leading = first === '-' ? takeInside(reader, /[0-9]/y, 'in numeric literal') : first
  if (leading !== '0') take(reader, /[0-9]*/y)
  if (take(reader, /\./y)) takeInside(reader, /[0-9]+/y, 'after decimal point in numeric literal')
  if (take(reader, /[eE][+-]?/y)) takeInside(reader, /[0-9]+/y, 'in exponent of numeric literal')
}
