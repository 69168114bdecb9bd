import {
  type CompiledPattern,
  compilePattern,
  compileSteps,
  matchTimes,
} from '../../framework/formats/pattern.ts'
import { goEscapes } from '../../framework/json/gotext.ts'
import { CostExceeded, type CostTracker, spend, textOf, willMake, willRead } from '../values/costtracker.ts'
import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import type { Int } from '../values/int.ts'
import { boolType, dynType, intType, listOf, stringType } from '../values/type.ts'
import { CelError, type CelValue, itemsOf, type ListView } from '../values/value.ts'
import { formatText } from './stringformat.ts'

const outOfRange = (index: Int): CelError => new CelError(`index out of range: ${index}`)

/** Strings are indexed by code points; most have no surrogates and need no splitting. */
const isPlain = (text: string): boolean => !/[\ud800-\udfff]/.test(text)
const pointsOf = (text: string): ArrayLike<string> => (isPlain(text) ? text : [...text])
const slice = (text: string, from: number, to?: number): string =>
  isPlain(text) ? text.slice(from, to) : [...text].slice(from, to).join('')

const charAt: FunctionOp = ([text, index]) => {
  const points = pointsOf(String(text))
  const at = Number(index)
  return at < 0 || at > points.length ? outOfRange(index as Int) : (points[at] ?? '')
}

/** The code point index of a UTF-16 index. */
const pointIndex = (text: string, unit: number): number =>
  unit < 0 ? -1 : pointsOf(text.slice(0, unit)).length

const indexOf: FunctionOp = ([value, part, offset = 0]) => {
  const text = String(value)
  const from = Number(offset)
  const { length } = pointsOf(text)
  if (from < 0) return outOfRange(offset as Int)
  if (part === '') return Math.min(from, length)
  if (from >= length) return -1
  return pointIndex(text, text.indexOf(String(part), slice(text, 0, from).length))
}

const lastIndexOf: FunctionOp = ([value, part, offset]) => {
  const text = String(value)
  const { length } = pointsOf(text)
  const from = offset === undefined ? length : Number(offset)
  if (from < 0) return outOfRange(offset as Int)
  if (part === '') return Math.min(from, length)
  if (offset !== undefined && from >= length) return -1
  return pointIndex(text, text.lastIndexOf(String(part), slice(text, 0, from).length))
}

const substring: FunctionOp = ([value, start, end]) => {
  const text = String(value)
  const { length } = pointsOf(text)
  const from = Number(start)
  const to = end === undefined ? length : Number(end)
  if (end !== undefined && from > to)
    return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (from < 0 || from > length) return outOfRange(start as Int)
  return to < 0 || to > length ? outOfRange(end as Int) : slice(text, from, to)
}

/** The number of occurrences of a substring, limited if `limit` is not negative; '' occurs around each code point. */
function occurrences(text: string, part: string, limit: number): number {
  const found = part === '' ? pointsOf(text).length + 1 : text.split(part).length - 1
  return limit < 0 ? found : Math.min(found, limit)
}

const replace: FunctionOp = ([value, part, by, count = -1], tracker) => {
  const [text, old, next] = [String(value), String(part), String(by)]
  const times = occurrences(text, old, Number(count))
  willMake(text.length + times * Math.max(0, next.length - old.length), tracker)
  if (times === 0) return text
  willRead(2 * times, tracker)
  if (old === '') return replaceAround(text, next, times)
  const parts = text.split(old)
  return (
    parts.slice(0, times + 1).join(next) +
    parts
      .slice(times + 1)
      .map(rest => old + rest)
      .join('')
  )
}

function replaceAround(text: string, next: string, times: number): string {
  const points = [...text]
  const changed = points.slice(0, times).map(point => next + point)
  return changed.join('') + (times > points.length ? next : points.slice(times).join(''))
}

const split: FunctionOp = ([value, separator, count = -1], tracker) => {
  const [text, by, limit] = [String(value), String(separator), Number(count)]
  willMake(text.length, tracker)
  if (limit === 0) return []
  const parts = by === '' ? [...text] : text.split(by)
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(by)]
}

const join: FunctionOp = ([list, separator = ''], tracker) => {
  const texts: string[] = []
  let length = 0
  for (const item of itemsOf(list as readonly CelValue[] | ListView)) {
    if (typeof item !== 'string') return new CelError(`join: invalid input: ${item}`)
    length += item.length + String(separator).length
    willMake(length, { ...tracker, effort: { left: Number.MAX_SAFE_INTEGER } })
    texts.push(item)
  }
  return textOf(texts.join(String(separator)), tracker)
}

/** White space of Unicode, as in Go; JavaScript also trims U+FEFF. */
const isSpace = (char: string): boolean => char === '\x85' || (char !== '\ufeff' && char.trim() === '')

const trim: FunctionOp = ([value]) => {
  const text = String(value)
  let [start, end] = [0, text.length]
  while (start < end && isSpace(text.charAt(start))) start++
  while (end > start && isSpace(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

const quote: FunctionOp = ([text]) =>
  `"${String(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is quoted
    .replace(/[\x07\b\f\n\r\t\v\\"]/g, char => goEscapes[char] ?? char)}"`

const lower: FunctionOp = ([text]) => String(text).replace(/[A-Z]+/g, part => part.toLowerCase())
const upper: FunctionOp = ([text]) => String(text).replace(/[a-z]+/g, part => part.toUpperCase())

const format: FunctionOp = ([template, list], tracker: CostTracker) =>
  formatText(String(template), list as readonly CelValue[] | ListView, tracker)

const texts = listOf(stringType)

export const strings: readonly FunctionDecl[] = [
  declare('charAt', member('string_char_at_int', [stringType, intType], stringType, charAt)),
  declare(
    'indexOf',
    member('string_index_of_string', [stringType, stringType], intType, indexOf),
    member('string_index_of_string_int', [stringType, stringType, intType], intType, indexOf),
  ),
  declare(
    'lastIndexOf',
    member('string_last_index_of_string', [stringType, stringType], intType, lastIndexOf),
    member('string_last_index_of_string_int', [stringType, stringType, intType], intType, lastIndexOf),
  ),
  declare('lowerAscii', member('string_lower_ascii', [stringType], stringType, lower)),
  declare('upperAscii', member('string_upper_ascii', [stringType], stringType, upper)),
  declare(
    'replace',
    member('string_replace_string_string', [stringType, stringType, stringType], stringType, replace),
    member(
      'string_replace_string_string_int',
      [stringType, stringType, stringType, intType],
      stringType,
      replace,
    ),
  ),
  declare(
    'split',
    member('string_split_string', [stringType, stringType], texts, split),
    member('string_split_string_int', [stringType, stringType, intType], texts, split),
  ),
  declare(
    'substring',
    member('string_substring_int', [stringType, intType], stringType, substring),
    member('string_substring_int_int', [stringType, intType, intType], stringType, substring),
  ),
  declare('trim', member('string_trim', [stringType], stringType, trim)),
  declare('format', member('string_format', [stringType, listOf(dynType)], stringType, format)),
  declare('strings.quote', overload('strings_quote', [stringType], stringType, quote)),
  declare(
    'join',
    member('list_join', [texts], stringType, join),
    member('list_join_string', [texts, stringType], stringType, join),
  ),
  declare(
    'contains',
    member('contains_string', [stringType, stringType], boolType, ([a, b]) => String(a).includes(String(b))),
  ),
  declare(
    'startsWith',
    member('starts_with_string', [stringType, stringType], boolType, ([a, b]) =>
      String(a).startsWith(String(b)),
    ),
  ),
  declare(
    'endsWith',
    member('ends_with_string', [stringType, stringType], boolType, ([a, b]) => String(a).endsWith(String(b))),
  ),
]

/** The compiled pattern, or its error. Counts the work of compiling it. */
function compiled(pattern: CelValue | undefined, tracker: CostTracker): CompiledPattern | CelError {
  spend(tracker, compileSteps(String(pattern)))
  const expression = compilePattern(String(pattern))
  return typeof expression === 'string' ? new CelError(expression) : expression
}

const matches: FunctionOp = ([text, pattern], tracker) => {
  const expression = compiled(pattern, tracker)
  if (expression instanceof CelError) return expression
  spend(tracker, expression.steps(String(text)))
  const time = expression.time(String(text))
  if (time > matchTimes.atOnce && tracker.longMatch) return tracker.longMatch(String(pattern), String(text))
  if (time > matchTimes.withoutThread) throw new CostExceeded()
  return expression.test(String(text))
}

/** Finding one match takes as long as so many other units. */
const effortOfMatch = 25

/** The first `count` matches, or all if it is negative. Counts the work before it is done. */
function found(
  [text, pattern]: readonly (CelValue | undefined)[],
  count: number,
  tracker: CostTracker,
): readonly string[] | CelError {
  const expression = compiled(pattern, tracker)
  if (expression instanceof CelError) return new CelError(`Illegal regex: ${expression.message}`)
  if (count === 0) return []
  spend(tracker, 2 * expression.steps(String(text)))
  const all: string[] = []
  for (const match of expression.matches(String(text))) {
    spend(tracker, effortOfMatch)
    all.push(match)
    if (all.length === count) break
  }
  return all
}

const find: FunctionOp = (args, tracker) => {
  const first = found(args, 1, tracker)
  return first instanceof CelError ? first : (first[0] ?? '')
}

const findAll: FunctionOp = (args, tracker) => found(args, Number(args[2] ?? -1), tracker)

export const regex: readonly FunctionDecl[] = [
  declare(
    'matches',
    overload('matches', [stringType, stringType], boolType, matches),
    member('matches_string', [stringType, stringType], boolType, matches),
  ),
  declare('find', member('string_find_string', [stringType, stringType], stringType, find)),
  declare(
    'findAll',
    member('string_find_all_string', [stringType, stringType], listOf(stringType), findAll),
    member('string_find_all_string_int', [stringType, stringType, intType], listOf(stringType), findAll),
  ),
]
