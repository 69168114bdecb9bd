/** An invalid path, with the message of kubectl if it has one. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError'
}

const fail = (message: string): never => {
  throw new JsonPathError(message)
}

/** The expression and the current offset. */
interface Scanner {
  readonly text: string
  at: number
}

/** The maximum length of a path. */
const maxLength = 4096
/** The maximum nesting of filters and unions. */
const maxNesting = 16

/** Parses a path without the braces of kubectl: `.a.b[0]`, `..c`, `[?(@.type=="Ready")].status`. */
export function parsePath(text: string, nesting = maxNesting): JsonPathNodes {
  if (text.length > maxLength) fail(`path must be at most ${maxLength} characters long`)
  if (nesting === 0) fail(`path must not be nested deeper than ${maxNesting} levels`)
  const scanner: Scanner = { text, at: 0 }
  const nodes: JsonPathNode[] = []
  while (scanner.at < text.length) nodes.push(...parseStep(scanner, nodes.at(-1), nesting))
  return nodes
}

function take(scanner: Scanner, pattern: RegExp): string | undefined {
  pattern.lastIndex = scanner.at
  const found = pattern.exec(scanner.text)
  if (found === null) return undefined
  scanner.at += found[0].length
  return found[0]
}

/** Up to the next character that ends an identifier; a backslash escapes the next character. */
const identifier = /(?:\\.|[^\s.,[\]$@{}\\])*/sy
const number = /[+-]?[\d.]+/y

function parseStep(scanner: Scanner, previous: JsonPathNode | undefined, nesting: number): JsonPathNodes {
  if (scanner.text.startsWith('[?(', scanner.at)) return [parseFilter(scanner, nesting)]
  if (scanner.text.startsWith('..', scanner.at)) return parseDescent(scanner, previous)
  const start = scanner.text.charAt(scanner.at)
  switch (start) {
    case ' ':
    case '@':
    case '$':
      scanner.at++
      return []
    case '.':
      scanner.at++
      return [parseField(scanner)]
    case '[':
      return parseBrackets(scanner, nesting)
    case '"':
    case "'":
      return [{ type: 'literal', value: parseQuoted(scanner, start) }]
    default:
      return [parseWord(scanner)]
  }
}

function parseField(scanner: Scanner): JsonPathNode {
  const name = take(scanner, identifier) ?? ''
  return name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') }
}

function parseDescent(scanner: Scanner, previous: JsonPathNode | undefined): JsonPathNodes {
  if (previous?.type === 'descent') fail('invalid multiple recursive descent')
  scanner.at += 2
  const next = scanner.text.charAt(scanner.at)
  return /[\p{L}\d_]/u.test(next) ? [{ type: 'descent' }, parseField(scanner)] : [{ type: 'descent' }]
}

/** Numbers and booleans. Words such as `range` are valid in templates only. */
function parseWord(scanner: Scanner): JsonPathNode {
  const digits = take(scanner, number)
  if (digits !== undefined) {
    const value = Number(digits)
    return Number.isNaN(value) ? fail(`cannot parse number ${digits}`) : { type: 'literal', value }
  }
  const character = scanner.text.charAt(scanner.at)
  if (!/[\p{L}_]/u.test(character)) fail(`unrecognized character in action: ${describe(character)}`)
  const word = take(scanner, identifier) ?? ''
  if (word === 'true' || word === 'false') return { type: 'literal', value: word === 'true' }
  return fail(`unrecognized identifier ${word}`)
}

const describe = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')} '${character}'`

function parseQuoted(scanner: Scanner, quote: string): string {
  const pattern = quote === '"' ? /"((?:[^"\\\n]|\\.)*)"/y : /'((?:[^'\\\n]|\\.)*)'/y
  const text = take(scanner, pattern) ?? fail('unterminated quoted string')
  return text.slice(1, -1).replace(/\\(.)/g, (_, escaped: string) => escapes[escaped] ?? escaped)
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** `[0]`, `[1:3]`, `[*]`, `['a.b']`, or a union of them. */
function parseBrackets(scanner: Scanner, nesting: number): JsonPathNodes {
  const end = scanner.text.indexOf(']', scanner.at)
  if (end < 0) fail('unterminated array')
  const text = scanner.text.slice(scanner.at + 1, end)
  scanner.at = end + 1
  const parts = text.split(',')
  if (parts.length > 1)
    return [{ type: 'union', parts: parts.map(part => parsePath(`[${part.trim()}]`, nesting - 1)) }]
  const key = /^'([^']*)'$/.exec(text)?.[1]
  return key === undefined ? [parseIndex(text)] : [{ type: 'field', name: key.replaceAll('\\', '') }]
}

function parseIndex(text: string): JsonPathNode {
  if (text === '*') return { type: 'slice' }
  if (/^-?\d+$/.test(text)) return { type: 'index', index: Number(text) }
  const [, from, to, step] =
    /^(-?\d*)(?::(-?\d*))(?::(-?\d*))?$/.exec(text) ?? fail(`invalid array index ${text}`)
  return {
    type: 'slice',
    ...(from ? { from: toInteger(from) } : {}),
    ...(to ? { to: toInteger(to) } : {}),
    ...(step ? { step: toInteger(step) } : {}),
  }
}

const toInteger = (text: string): number =>
  text === '-' ? fail(`array index ${text} is not a number`) : Number(text)

/** `[?(@.type=="Ready")]`: ends at a parenthesis outside of quotes. */
const filterText = /\[\?\(((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"')])*)\)\]/y
const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s

function parseFilter(scanner: Scanner, nesting: number): JsonPathNode {
  const found = take(scanner, filterText) ?? fail('unterminated filter')
  const text = found.slice(3, -2)
  const [, left, operator = '', right] = comparison.exec(text) ?? []
  if (left === undefined || right === undefined)
    return { type: 'filter', left: parsePath(text, nesting - 1), operator: 'exists', right: [] }
  if (!isOperator(operator)) return fail(`unrecognized filter operator ${operator}`)
  return {
    type: 'filter',
    left: parsePath(left, nesting - 1),
    operator,
    right: parsePath(right, nesting - 1),
  }
}

const isOperator = (text: string): text is FilterOperator => ['==', '!=', '<', '<=', '>', '>='].includes(text)

/** One step of a JSONPath. */
export type JsonPathNode =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'descent' }
  | { readonly type: 'slice'; readonly from?: number; readonly to?: number; readonly step?: number }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'union'; readonly parts: readonly JsonPathNodes[] }
  | {
      readonly type: 'filter'
      readonly left: JsonPathNodes
      readonly operator: FilterOperator
      readonly right: JsonPathNodes
    }
  | { readonly type: 'literal'; readonly value: string | number | boolean }

export type JsonPathNodes = readonly JsonPathNode[]

export type FilterOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'exists'
