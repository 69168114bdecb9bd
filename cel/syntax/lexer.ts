import { inInt64, normalInt } from '../values/int.ts'
import { type CelValue, Double, Uint } from '../values/value.ts'
import type { Issue } from './source.ts'

export type TokenType =
  | 'int'
  | 'uint'
  | 'float'
  | 'string'
  | 'bytes'
  | 'name'
  | 'quoted name'
  /** Operators, brackets, and the words true, false, null and in: the type is the text. */
  | 'symbol'
  | 'end'

export interface Token {
  readonly type: TokenType
  readonly text: string
  readonly at: number
}

const escapeSequence = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[0-3][0-7][0-7]|[xX][\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})`
const text = [
  String.raw`"""(?:${escapeSequence}|[^\\])*?"""`,
  String.raw`'''(?:${escapeSequence}|[^\\])*?'''`,
  String.raw`"(?:${escapeSequence}|[^\\"\n\r])*"`,
  String.raw`'(?:${escapeSequence}|[^\\'\n\r])*'`,
  String.raw`[rR]"""[\s\S]*?"""`,
  String.raw`[rR]'''[\s\S]*?'''`,
  String.raw`[rR]"[^"\n\r]*"`,
  String.raw`[rR]'[^'\n\r]*'`,
].join('|')

const patterns: readonly (readonly [TokenType | 'blank', string])[] = [
  ['blank', String.raw`[\t \r\n\f]+|//[^\n]*`],
  ['float', String.raw`\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?`],
  ['uint', String.raw`(?:0x[\da-fA-F]+|\d+)[uU]`],
  ['int', String.raw`0x[\da-fA-F]+|\d+`],
  ['bytes', `[bB](?:${text})`],
  ['string', text],
  ['symbol', String.raw`==|!=|<=|>=|&&|\|\||[<>\[\]{}().,!?:+*/%-]|(?:true|false|null|in)(?![A-Za-z0-9_])`],
  ['name', '[A-Za-z_][A-Za-z0-9_]*'],
  ['quoted name', '`[A-Za-z0-9_./ -]+`'],
]

const groups = patterns.map(([, pattern]) => `(${pattern})`).join('|')

/** The tokens of an expression and an end token. Unreadable characters are skipped and reported in `issues`. */
export function tokensOf(source: string, issues: Issue[]): readonly Token[] {
  const tokens: Token[] = []
  const pattern = new RegExp(groups, 'y')
  let at = 0
  while (at < source.length) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match === null) {
      const skipped = unreadable(source, at)
      issues.push({ at, message: `Syntax error: token recognition error at: '${spoken(skipped)}'` })
      at += skipped.length
      continue
    }
    const type = patterns[match.slice(1).findIndex(group => group !== undefined)]?.[0] ?? 'blank'
    if (type !== 'blank') tokens.push({ type, text: match[0], at })
    at += match[0].length
  }
  return [...tokens, { type: 'end', text: '<EOF>', at: source.length }]
}

/** An unterminated string is skipped up to the end of its valid part, anything else by one character. */
function unreadable(source: string, at: number): string {
  const open = /^[bB]?[rR]?(["'])/.exec(source.slice(at, at + 3))
  // A single =, & or | is skipped with the next character, as in the lexer of ANTLR.
  if (open === null) return /^(?:[=&|].?|.)/su.exec(source.slice(at, at + 3))?.[0] ?? ''
  const rest = source.slice(at + open[0].length)
  const body = new RegExp(`^(?:${escapeSequence}|[^\\\\${open[1]}\\n\\r])*\\\\?[^\\n\\r]?`).exec(rest)
  return open[0] + (body?.[0] ?? '')
}

const spoken = (skipped: string): string =>
  skipped.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The value of a literal, or an error message. `sign` is '-' or ''. */
export function literalOf(token: Token, sign: string): { readonly value: CelValue } | string {
  switch (token.type) {
    case 'int':
      return intLiteral(token.text, sign)
    case 'uint':
      return uintLiteral(token.text.slice(0, -1))
    case 'float': {
      const value = Number(sign + token.text)
      return Number.isFinite(value) ? { value: new Double(value) } : 'invalid double literal'
    }
    case 'string':
      return textLiteral(token.text)
    case 'bytes':
      return { value: bytesOf(token.text.slice(1)) }
    default:
      return { value: token.text === 'null' ? null : token.text === 'true' }
  }
}

function intLiteral(text: string, sign: string): { readonly value: CelValue } | string {
  const value = sign === '-' ? -BigInt(text) : BigInt(text)
  return inInt64(value) ? { value: normalInt(value) } : 'invalid int literal'
}

function uintLiteral(text: string): { readonly value: CelValue } | string {
  const value = BigInt(text)
  return value < 2n ** 64n ? { value: new Uint(value) } : 'invalid uint literal'
}

interface Quoted {
  readonly raw: boolean
  readonly body: string
}

function unquote(text: string): Quoted {
  const raw = /^[rR]/.test(text)
  const quoted = raw ? text.slice(1) : text
  const triple = quoted.length >= 6 && /^("""|''')/.test(quoted)
  return { raw, body: triple ? quoted.slice(3, -3) : quoted.slice(1, -1) }
}

const escapePattern = /\\(?:([0-3][0-7][0-7])|[xX](..)|u(....)|U(........)|(.))/gs

function textLiteral(text: string): { readonly value: CelValue } | string {
  const { raw, body } = unquote(text)
  const clean = body.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  if (raw || !clean.includes('\\')) return { value: clean }
  let isGood = true
  const value = clean.replace(escapePattern, (_all, ...groups: readonly (string | undefined)[]) => {
    const [octal, hex, short, long, char] = groups
    const code = octal ? Number.parseInt(octal, 8) : Number.parseInt(hex ?? short ?? long ?? '', 16)
    if (char !== undefined) return simpleEscapes[char] ?? char
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) isGood = false
    return isGood ? String.fromCodePoint(code) : ''
  })
  return isGood ? { value } : 'invalid unicode code point'
}

/** In bytes literals, `\x41` and `\101` are one byte; other characters are encoded as UTF-8. */
function bytesOf(text: string): Uint8Array {
  const { raw, body } = unquote(text)
  if (raw) return new TextEncoder().encode(body)
  const chunks: Buffer[] = []
  let last = 0
  for (const match of body.matchAll(escapePattern)) {
    const [all, octal, hex, short, long, char] = match
    chunks.push(Buffer.from(body.slice(last, match.index)))
    last = match.index + all.length
    if (octal !== undefined) chunks.push(Buffer.from([Number.parseInt(octal, 8)]))
    else if (hex !== undefined) chunks.push(Buffer.from([Number.parseInt(hex, 16)]))
    else if (char !== undefined) chunks.push(Buffer.from(simpleEscapes[char] ?? char))
    else chunks.push(Buffer.from(String.fromCodePoint(Number.parseInt(short ?? long ?? '', 16))))
  }
  return new Uint8Array(Buffer.concat([...chunks, Buffer.from(body.slice(last))]))
}
