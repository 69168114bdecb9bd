import type { Expr } from './ast.ts'
import { tokensOf } from './lexer.ts'
import { expandMember } from './macro.ts'
import {
  checkChain,
  countMacro,
  expect,
  fail,
  isSymbol,
  nested,
  type ParserState,
  peek,
  take,
  takeIf,
} from './parserstate.ts'
import { expanded, parseArgs, parsePrimary } from './primary.ts'
import { type Issue, nowhere, SyntaxProblem } from './source.ts'

/**
 * A sixth of the limit of Kubernetes (cel-go's `ExpressionSizeCodePointLimit`): an expression is checked in one step, which takes up to 50
 * milliseconds for as many code points the first time.
 */
const maxLength = 16_384

/** Parses an expression and expands its macros. Throws a SyntaxProblem with all issues. */
export function parse(source: string): Expr {
  const length = [...source].length
  if (length > maxLength) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${maxLength}`
    throw new SyntaxProblem([{ at: nowhere, message }])
  }
  const issues: Issue[] = []
  const tokens = tokensOf(source, issues)
  const reader: ParserState = { tokens, next: 0, depth: 0, macros: 0, issues, expr: () => parseExpr(reader) }
  try {
    const expr = reader.expr()
    if (peek(reader).type !== 'end') tooMuch(reader)
    if (issues.length > 0) throw new SyntaxProblem([])
    return expr
  } catch (error) {
    throw error instanceof SyntaxProblem ? new SyntaxProblem([...issues, ...error.issues]) : error
  }
}

/** Fails at input after the expression. */
function tooMuch(reader: ParserState): never {
  const token = peek(reader)
  const word = peek(reader, 1).type === 'end' ? 'extraneous' : 'mismatched'
  return fail(token, `${word} input '${token.text}' expecting <EOF>`)
}

const parseExpr = (reader: ParserState): Expr =>
  nested(reader, () => {
    const condition = parseOr(reader)
    const question = takeIf(reader, '?')
    if (question === undefined) return condition
    const yes = parseOr(reader)
    expect(reader, ':', "':'")
    return call(question.at, '_?_:_', [condition, yes, reader.expr()])
  })

const call = (at: number, name: string, args: readonly Expr[]): Expr => ({ kind: 'call', at, name, args })

const parseOr = (reader: ParserState): Expr => parseLogic(reader, '||', parseAnd)
const parseAnd = (reader: ParserState): Expr => parseLogic(reader, '&&', parseRelation)

/** Terms of && or ||, as a balanced tree, so that long chains are not deep. */
function parseLogic(reader: ParserState, operator: '||' | '&&', read: (reader: ParserState) => Expr): Expr {
  const terms = [read(reader)]
  const operators: number[] = []
  for (let token = takeIf(reader, operator); token; token = takeIf(reader, operator)) {
    operators.push(token.at)
    terms.push(read(reader))
  }
  return balanced(`_${operator}_`, terms, operators)
}

function balanced(name: string, terms: readonly Expr[], operators: readonly number[]): Expr {
  const [only] = terms
  if (operators.length === 0 && only !== undefined) return only
  const middle = operators.length >> 1
  const left = balanced(name, terms.slice(0, middle + 1), operators.slice(0, middle))
  const right = balanced(name, terms.slice(middle + 1), operators.slice(middle + 1))
  return call(operators[middle] ?? 0, name, [left, right])
}

/** Left-associative operators of equal precedence. */
function parseChain(reader: ParserState, operators: readonly string[], read: () => Expr): Expr {
  let left = read()
  for (let length = 1; isSymbol(reader, ...operators); length++) {
    checkChain(length)
    const { at, text } = take(reader)
    left = call(at, text === 'in' ? '@in' : `_${text}_`, [left, read()])
  }
  return left
}

const parseRelation = (reader: ParserState): Expr =>
  parseChain(reader, ['<', '<=', '>=', '>', '==', '!=', 'in'], () =>
    parseChain(reader, ['+', '-'], () => parseChain(reader, ['*', '/', '%'], () => parseUnary(reader))),
  )

function parseUnary(reader: ParserState): Expr {
  if (!isSymbol(reader, '!', '-')) return parseMember(reader)
  const { at, text } = peek(reader)
  if (text === '-' && ['int', 'float'].includes(peek(reader, 1).type)) return parseMember(reader)
  let count = 0
  while (takeIf(reader, text)) count++
  const operand = parseMember(reader)
  return count % 2 === 0 ? operand : call(at, text === '!' ? '!_' : '-_', [operand])
}

function parseMember(reader: ParserState): Expr {
  let expr = parsePrimary(reader)
  for (let length = 1; isSymbol(reader, '.', '['); length++) {
    checkChain(length)
    expr = peek(reader).text === '.' ? parseSelect(reader, expr) : parseIndex(reader, expr)
  }
  return expr
}

function parseIndex(reader: ParserState, operand: Expr): Expr {
  const { at } = take(reader)
  const optional = takeIf(reader, '?') !== undefined
  const index = reader.expr()
  expect(reader, ']', "']'")
  return call(at, optional ? '_[?_]' : '_[_]', [operand, index])
}

function parseSelect(reader: ParserState, operand: Expr): Expr {
  const { at } = take(reader)
  const optional = takeIf(reader, '?') !== undefined
  const token = peek(reader)
  if (token.type !== 'name' && token.type !== 'quoted name') return wrongName(reader)
  take(reader)
  const field = token.type === 'name' ? token.text : token.text.slice(1, -1)
  if (optional) return call(at, '_?._', [operand, { kind: 'literal', at: token.at, value: field }])
  const open = token.type === 'name' ? takeIf(reader, '(') : undefined
  if (open === undefined) return { kind: 'select', at, operand, field, test: false }
  const args = parseArgs(reader)
  const macro = expanded(reader, open.at, expandMember(open.at, field, operand, args))
  if (macro !== undefined) countMacro(reader)
  return macro ?? { kind: 'call', at: open.at, name: field, target: operand, args }
}

function wrongName(reader: ParserState): never {
  const token = peek(reader)
  if (token.type === 'symbol' && ['true', 'false', 'null'].includes(token.text))
    return fail(token, `mismatched input '${token.text}' expecting IDENTIFIER`)
  const found = token.type === 'end' ? '.' : `.${token.text}`
  return fail(token, `no viable alternative at input '${found}'`)
}
