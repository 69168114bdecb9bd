import { badRequest, fieldErrorBody } from '../meta/errors.ts'
import { labelValueErrors, qualifiedNameErrors } from '../meta/names.ts'
import {
  type FieldRequirement,
  type FieldSelector,
  integerOf,
  type LabelRequirement,
  type LabelSelector,
  type Selectors,
} from './selectors.ts'

type TokenType = 'identifier' | 'end' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<' | 'in' | 'notin'

interface Token {
  readonly type: TokenType
  readonly literal: string
}

/** Whether `in` and `notin` are operators or words. */
type Position = 'word' | 'operator'

interface Tokens {
  readonly all: readonly Token[]
  at: number
}

const symbols = new Map(
  (['(', ')', ',', '!', '=', '==', '!=', '>', '<'] as const).map(type => [
    type as string,
    { type, literal: type },
  ]),
)
const spaces = /\s*/y
const word = /[^\s()=!,<>]*/y
const end: Token = { type: 'end', literal: '' }

/** Where the pattern, which is sticky and matches everywhere, ends. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  pattern.test(text)
  return pattern.lastIndex
}

function tokenize(text: string): Tokens {
  const all: Token[] = []
  for (let at = endOf(spaces, text, 0); at < text.length; at = endOf(spaces, text, at)) {
    const symbol = symbolAt(text, at)
    const next = symbol === undefined ? endOf(word, text, at) : at + symbol.literal.length
    all.push(symbol ?? wordToken(text.slice(at, next)))
    at = next
  }
  return { all, at: 0 }
}

const symbolAt = (text: string, at: number): Token | undefined => {
  const first = symbols.get(text.charAt(at))
  return first && (symbols.get(text.slice(at, at + 2)) ?? first)
}

const wordToken = (literal: string): Token => ({
  type: literal === 'in' || literal === 'notin' ? literal : 'identifier',
  literal,
})

function peek({ all, at }: Tokens, position: Position): Token {
  const token = all[at] ?? end
  const isWord = position === 'word' && (token.type === 'in' || token.type === 'notin')
  return isWord ? { type: 'identifier', literal: token.literal } : token
}

function take(tokens: Tokens, position: Position): Token {
  const token = peek(tokens, position)
  tokens.at++
  return token
}

/** Characters: no URL has a longer selector, but an expression of a policy can have any. */
export const longestSelector = 64 * 1024

function checkLength({ length }: string): void {
  if (length > longestSelector)
    throw badRequest(`a selector may have at most ${longestSelector} characters, but this one has ${length}`)
}

/** A problem of one requirement; clients see it after `unable to parse requirement: `. */
class RequirementError extends Error {}

/**
 * Parses the query parameter `labelSelector`; throws 400 with the message of `labels.Parse`
 * (`apimachinery/pkg/labels`).
 */
export function parseLabelSelector(text: string): LabelSelector {
  checkLength(text)
  const tokens = tokenize(text)
  const requirements: LabelRequirement[] = []
  while (peek(tokens, 'word').type !== 'end') {
    const { type, literal } = peek(tokens, 'word')
    if (type !== 'identifier' && type !== '!') {
      throw badRequest(`found '${literal}', expected: !, identifier, or 'end of string'`)
    }
    requirements.push(requirementOrRefuse(tokens))
    endOfRequirement(tokens)
  }
  return { requirements }
}

function requirementOrRefuse(tokens: Tokens): LabelRequirement {
  try {
    return parseRequirement(tokens)
  } catch (error) {
    if (error instanceof RequirementError) throw badRequest(`unable to parse requirement: ${error.message}`)
    throw error
  }
}

function endOfRequirement(tokens: Tokens): void {
  const { type, literal } = take(tokens, 'word')
  if (type === 'end') return
  if (type !== ',') throw badRequest(`found '${literal}', expected: ',' or 'end of string'`)
  const next = peek(tokens, 'word')
  if (next.type !== 'identifier' && next.type !== '!') {
    throw badRequest(`found '${next.literal}', expected: identifier after ','`)
  }
}

/** Frozen: views get selectors, and all selectors share it. */
const none: readonly string[] = Object.freeze([])

function parseRequirement(tokens: Tokens): LabelRequirement {
  const first = take(tokens, 'word')
  const negated = first.type === '!'
  const { type, literal: key } = negated ? take(tokens, 'word') : first
  if (type !== 'identifier') throw new RequirementError(`found '${key}', expected: identifier`)
  refuse('<nil>', key, qualifiedNameErrors(key))
  const next = peek(tokens, 'word').type
  if (negated) return { key, operator: '!', values: none }
  if (next === 'end' || next === ',') return { key, operator: 'exists', values: none }
  return withValues(key, take(tokens, 'operator'), tokens)
}

const operators = new Map<TokenType, LabelRequirement['operator']>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', 'in'],
  ['==', 'in'],
  ['!=', 'notin'],
  ['>', 'gt'],
  ['<', 'lt'],
])

function withValues(key: string, token: Token, tokens: Tokens): LabelRequirement {
  const operator = operators.get(token.type)
  if (operator === undefined) {
    throw new RequirementError(`found '${token.literal}', expected: in, notin, =, ==, !=, gt, lt`)
  }
  const isSet = token.type === 'in' || token.type === 'notin'
  const values = isSet ? [...new Set(parseValues(tokens))].sort() : [parseExactValue(tokens)]
  validateValues(key, operator, values)
  return { key, operator, values }
}

function parseExactValue(tokens: Tokens): string {
  const { type } = peek(tokens, 'word')
  if (type === 'end' || type === ',') return ''
  const token = take(tokens, 'word')
  if (token.type !== 'identifier')
    throw new RequirementError(`found '${token.literal}', expected: identifier`)
  return token.literal
}

/** The tokens that may follow in a list of values. */
const expectedTokens = { '(': "',', ')' or identifier", ',': "',', or identifier", identifier: "',' or ')'" }

/** `(a,b)`; nothing between commas is the empty value. */
function parseValues(tokens: Tokens): readonly string[] {
  const open = take(tokens, 'word')
  if (open.type !== '(') throw new RequirementError(`found '${open.literal}' expected: '('`)
  const values: string[] = []
  let value = ''
  let last: keyof typeof expectedTokens = '('
  while (true) {
    const { type, literal } = take(tokens, 'word')
    if (type === ')' || type === ',') {
      values.push(value)
      value = ''
      if (type === ')') return values
      last = type
    } else if (type === 'identifier' && last !== type) {
      value = literal
      last = type
    } else {
      throw new RequirementError(`found '${literal}', expected: ${expectedTokens[last]}`)
    }
  }
}

function validateValues(
  key: string,
  operator: LabelRequirement['operator'],
  values: readonly string[],
): void {
  values.forEach((value, i) => {
    if ((operator === 'gt' || operator === 'lt') && integerOf(value) === undefined) {
      refuse(`values[${i}]`, value, ["for 'Gt', 'Lt' operators, the value must be an integer"])
    }
    refuse(`values[${i}][${key}]`, value, labelValueErrors(value))
  })
}

function refuse(field: string, value: string, errors: readonly string[]): void {
  if (errors.length === 0) return
  const body = fieldErrorBody({ type: 'FieldValueInvalid', field, value, detail: errors.join('; ') })
  throw new RequirementError(`${field}: ${body}`)
}

/**
 * Parses the query parameter `fieldSelector`; throws 400 with the message of `fields.ParseSelector`
 * (`apimachinery/pkg/fields`). A requirement with an empty field and an empty value is dropped.
 */
export function parseFieldSelector(text: string): FieldSelector {
  checkLength(text)
  const requirements = splitTerms(text)
    .filter(term => term !== '')
    .map(term => parseTerm(term, text))
  return { requirements: requirements.filter(({ field, value }) => field !== '' || value !== '') }
}

/** Splits at commas that are not escaped. */
function splitTerms(text: string): readonly string[] {
  return text.match(/(?:\\[\s\S]|[^\\,]|\\$)+/g) ?? []
}

function parseTerm(term: string, selector: string): FieldRequirement {
  const found = /!=|==?/.exec(term)
  if (found === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`)
  const operator = found[0] === '!=' ? '!=' : '='
  const value = unescapeValue(term.slice(found.index + found[0].length))
  return { field: term.slice(0, found.index), operator, value }
}

function unescapeValue(value: string): string {
  return value.replace(/\\([\s\S]?)|=/g, (sequence, escaped: string | undefined) => {
    if (escaped === undefined) throw badRequest('invalid field selector: unescaped character in value: 61')
    if (!'\\,='.includes(escaped) || escaped === '') {
      throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`)
    }
    return escaped
  })
}

/**
 * Selectors for authorization: a selector that does not parse does not restrict, as in Kubernetes
 * (`authorizer.LabelSelectorAttributes`).
 */
export function readableSelectors(fields?: string | null, labels?: string | null): Selectors {
  const fieldSelector = readable(parseFieldSelector, fields)
  const labelSelector = readable(parseLabelSelector, labels)
  return { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) }
}

function readable<T extends { readonly requirements: readonly unknown[] }>(
  parse: (text: string) => T,
  text: string | null | undefined,
): T | undefined {
  if (!text) return undefined
  try {
    const selector = parse(text)
    return selector.requirements.length === 0 ? undefined : selector
  } catch {
    return undefined
  }
}
