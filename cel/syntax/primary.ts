import type { Expr, ListElement, MapEntry, StructField } from './ast.ts'
import { literalOf, type Token } from './lexer.ts'
import { expandGlobal, type MacroProblem } from './macro.ts'
import {
  expect,
  fail,
  isSymbol,
  type ParserState,
  peek,
  start,
  take,
  takeIf,
  unexpected,
} from './parserstate.ts'

const reserved: ReadonlySet<string> = new Set(
  (
    'as break const continue else false for function if import in let loop namespace null package return true ' +
    'var void while'
  ).split(' '),
)

/** The expansion of a macro. An error is added to the issues, and parsing continues. */
export function expanded(
  reader: ParserState,
  at: number,
  macro: Expr | MacroProblem | undefined,
): Expr | undefined {
  if (macro === undefined || !('problem' in macro)) return macro
  reader.issues.push({ at: macro.at, message: macro.problem })
  return { kind: 'literal', at, value: null }
}

/** The arguments of a call, after its opening bracket. */
export function parseArgs(reader: ParserState): readonly Expr[] {
  if (takeIf(reader, ')')) return []
  if (peek(reader).type === 'end') return unexpected(reader, start.replace("'(', ", "'(', ')', "))
  const args = [reader.expr()]
  while (takeIf(reader, ',')) args.push(reader.expr())
  expect(reader, ')', "{')', ','}")
  return args
}

/** A name, a literal, a list, a map, an object, or an expression in brackets. */
export function parsePrimary(reader: ParserState): Expr {
  const token = peek(reader)
  if (token.type === 'symbol') return parseSymbol(reader, token)
  if (token.type === 'name') return parseName(reader, '')
  if (token.type === 'end' || token.type === 'quoted name') return unexpected(reader, start)
  return parseLiteral(reader, take(reader), '')
}

function parseSymbol(reader: ParserState, token: Token): Expr {
  switch (token.text) {
    case '(':
      return parseBrackets(reader)
    case '[':
      return parseList(reader)
    case '{':
      return parseMap(reader)
    case '.':
      take(reader)
      return peek(reader).type === 'name' ? parseName(reader, '.') : unexpected(reader, 'IDENTIFIER')
    case 'true':
    case 'false':
    case 'null':
      return parseLiteral(reader, take(reader), '')
    case '-':
      take(reader)
      return parseLiteral(reader, take(reader), '-', token.at)
    default:
      return unexpected(reader, start)
  }
}

function parseBrackets(reader: ParserState): Expr {
  take(reader)
  const expr = reader.expr()
  const next = peek(reader)
  if (next.type === 'end') return fail(next, "missing ')' at '<EOF>'")
  expect(reader, ')', "')'")
  return expr
}

function parseLiteral(reader: ParserState, token: Token, sign: string, at = token.at): Expr {
  const literal = literalOf(token, sign)
  if (typeof literal === 'object') return { kind: 'literal', at, value: literal.value }
  reader.issues.push({ at, message: literal })
  return { kind: 'literal', at, value: null }
}

function parseName(reader: ParserState, dot: string): Expr {
  const token = take(reader)
  const struct = parseStruct(reader, token, dot)
  if (struct !== undefined) return struct
  if (reserved.has(token.text))
    reader.issues.push({ at: token.at, message: `reserved identifier: ${token.text}` })
  const open = takeIf(reader, '(')
  const name = dot + token.text
  if (open === undefined) return { kind: 'ident', at: token.at, name }
  const { at } = open
  const args = parseArgs(reader)
  return expanded(reader, at, expandGlobal(at, name, args)) ?? { kind: 'call', at, name, args }
}

/** `a.b.C{field: value}` */
function parseStruct(reader: ParserState, first: Token, dot: string): Expr | undefined {
  let ahead = 0
  while (peek(reader, ahead).text === '.' && peek(reader, ahead + 1).type === 'name') ahead += 2
  const open = peek(reader, ahead)
  if (open.type !== 'symbol' || open.text !== '{') return undefined
  const names = [first.text]
  for (let i = 1; i < ahead; i += 2) names.push(peek(reader, i).text)
  reader.next += ahead + 1
  const fields = parseEntries(reader, parseField)
  return { kind: 'struct', at: open.at, type: dot + names.join('.'), fields }
}

/** Up to the closing brace. */
function parseEntries<T>(reader: ParserState, read: (reader: ParserState) => T): readonly T[] {
  const entries: T[] = []
  while (!isSymbol(reader, '}')) {
    entries.push(read(reader))
    if (takeIf(reader, ',') === undefined) break
  }
  expect(reader, '}', "{'}', ','}")
  return entries
}

function parseField(reader: ParserState): StructField {
  const optional = takeIf(reader, '?') !== undefined
  const token = take(reader)
  if (token.type !== 'name' && token.type !== 'quoted name') {
    const expected = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"
    return fail(token, `mismatched input '${token.text}' expecting ${expected}`)
  }
  const name = token.type === 'name' ? token.text : token.text.slice(1, -1)
  const { at } = expect(reader, ':', "':'")
  return { at, name, value: reader.expr(), optional }
}

function parseMap(reader: ParserState): Expr {
  const { at } = take(reader)
  return { kind: 'map', at, entries: parseEntries(reader, parseEntry) }
}

function parseEntry(reader: ParserState): MapEntry {
  const optional = takeIf(reader, '?') !== undefined
  const key = reader.expr()
  const { at } = expect(reader, ':', "':'")
  return { at, key, value: reader.expr(), optional }
}

function parseList(reader: ParserState): Expr {
  const { at } = take(reader)
  const elements: ListElement[] = []
  while (!isSymbol(reader, ']')) {
    const optional = takeIf(reader, '?') !== undefined
    elements.push({ value: reader.expr(), optional })
    if (takeIf(reader, ',') === undefined) break
  }
  expect(reader, ']', "{']', ','}")
  return { kind: 'list', at, elements }
}
