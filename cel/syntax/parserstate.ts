import type { Expr } from './ast.ts'
import type { Token } from './lexer.ts'
import { type Issue, nowhere, SyntaxProblem } from './source.ts'

/** The state of the parser. */
export interface ParserState {
  readonly tokens: readonly Token[]
  next: number
  depth: number
  /** Macros that have been expanded. */
  macros: number
  readonly issues: Issue[]
  /** Parses a whole expression. */
  expr(): Expr
}

const maxDepth = 250

/** The tokens with which an expression can begin. */
export const start =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

const end: Token = { type: 'end', text: '<EOF>', at: 0 }

export const peek = ({ tokens, next }: ParserState, ahead = 0): Token =>
  tokens[Math.min(next + ahead, tokens.length - 1)] ?? end

export function take(reader: ParserState): Token {
  const token = peek(reader)
  reader.next++
  return token
}

export const isSymbol = (reader: ParserState, ...texts: readonly string[]): boolean => {
  const { type, text } = peek(reader)
  return type === 'symbol' && texts.includes(text)
}

export function takeIf(reader: ParserState, text: string): Token | undefined {
  return isSymbol(reader, text) ? take(reader) : undefined
}

export function fail({ at }: Token, message: string): never {
  throw new SyntaxProblem([{ at, message: `Syntax error: ${message}` }])
}

export const expect = (reader: ParserState, text: string, expected: string): Token =>
  takeIf(reader, text) ?? fail(peek(reader), `mismatched input '${peek(reader).text}' expecting ${expected}`)

/** Fails at an unexpected token: `extraneous` if the input without it would be valid. */
export function unexpected(reader: ParserState, expected: string): never {
  const token = peek(reader)
  const word = token.type !== 'end' && beginsExpr(peek(reader, 1)) ? 'extraneous' : 'mismatched'
  return fail(token, `${word} input '${token.text}' expecting ${expected}`)
}

const beginnings: ReadonlySet<string> = new Set(['[', '{', '(', '.', '-', '!', 'true', 'false', 'null'])

const beginsExpr = ({ type, text }: Token): boolean =>
  type === 'symbol' ? beginnings.has(text) : type !== 'end'

/** Parses one level deeper. Throws beyond the maximum depth. */
export function nested<T>(reader: ParserState, read: () => T): T {
  if (++reader.depth > maxDepth) throw refused(`expression recursion limit exceeded: ${maxDepth}`)
  const result = read()
  reader.depth--
  return result
}

/**
 * Macros of an expression. One of twelve characters expands to a dozen nodes, for which overloads are tried: 1,200 of them, which have 16,384
 * code points, would take 0.1 to 0.3 seconds to check the first time.
 */
const mostMacros = 256

/** Counts a macro. Throws when there are too many. */
export function countMacro(reader: ParserState): void {
  if (++reader.macros > mostMacros) throw refused(`expression has more than ${mostMacros} macros`)
}

/** Throws for chains such as `a + a + …` that are too long. */
export function checkChain(length: number): void {
  if (length > maxDepth) throw refused('max recursion depth exceeded')
}

const refused = (message: string): SyntaxProblem => new SyntaxProblem([{ at: nowhere, message }])
