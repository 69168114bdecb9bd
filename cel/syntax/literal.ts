import { inInt64, normalInt } from '../values/int.ts'
import { type CelValue, Double, Uint } from '../values/value.ts'
import type { Token } from './lexer.ts'

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The value of a literal, or what is wrong with it. `sign` is '-' or ''. */
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

const escapeSequence = /\\(?:([0-3][0-7][0-7])|[xX](..)|u(....)|U(........)|(.))/gs

function textLiteral(text: string): { readonly value: CelValue } | string {
  const { raw, body } = unquote(text)
  const clean = body.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  if (raw || !clean.includes('\\')) return { value: clean }
  let isGood = true
  const value = clean.replace(escapeSequence, (_all, ...groups: readonly (string | undefined)[]) => {
    const [octal, hex, short, long, char] = groups
    const code = octal ? Number.parseInt(octal, 8) : Number.parseInt(hex ?? short ?? long ?? '', 16)
    if (char !== undefined) return simpleEscapes[char] ?? char
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) isGood = false
    return isGood ? String.fromCodePoint(code) : ''
  })
  return isGood ? { value } : 'invalid unicode code point'
}

/** In bytes, `\x41` and `\101` are one byte; other characters are UTF-8. */
function bytesOf(text: string): Uint8Array {
  const { raw, body } = unquote(text)
  if (raw) return new TextEncoder().encode(body)
  const chunks: Buffer[] = []
  let last = 0
  for (const match of body.matchAll(escapeSequence)) {
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
