import { type CostTracker, textOf, willMake } from '../values/costtracker.ts'
import { kindOf, typeNameOf } from '../values/kind.ts'
import { durationText, timestampText } from '../values/time.ts'
import {
  CelDuration,
  CelError,
  CelTimestamp,
  type CelValue,
  Double,
  isList,
  isMap,
  itemAt,
  itemsOf,
  type ListView,
  sizeOf,
  TypeValue,
  Uint,
} from '../values/value.ts'

/** `'%s is %.2f'.format([…])`, as version 2 of cel-go's strings library with the locale en-US. */
export function formatText(
  template: string,
  args: readonly CelValue[] | ListView,
  tracker: CostTracker,
): CelValue {
  const parts: string[] = []
  let used = 0
  let length = 0
  let last = 0
  for (const match of template.matchAll(/%(?:%|(?:\.(\d*))?(.?))/gsu)) {
    const [clause, precision, letter] = match
    parts.push(template.slice(last, match.index))
    last = match.index + clause.length
    const text = clause === '%%' ? '%' : formatArg({ args, index: used++, precision, letter })
    if (text instanceof CelError) return text
    length += text.length
    willMake(length, { ...tracker, effort: { left: Number.MAX_SAFE_INTEGER } })
    parts.push(text)
  }
  return textOf(parts.join('') + template.slice(last), tracker)
}

/** The clauses of a format string, or an error message. */
export function clausesOf(template: string): readonly string[] | string {
  const found: string[] = []
  for (const [clause, , letter] of template.matchAll(/%(?:%|(?:\.(\d*))?(.?))/gsu)) {
    if (clause === '%%') continue
    if (letter === undefined || letter === '') return 'unexpected end of string'
    if (clauses[letter] === undefined) return unrecognized(letter)
    found.push(letter)
  }
  return found
}

const unrecognized = (letter: string): string =>
  `could not parse formatting clause: unrecognized formatting clause "${letter}"`

/** The kinds that a clause accepts, and the error for others. */
export const clauseKinds: Readonly<Record<string, readonly [kinds: string, problem: string]>> = {
  d: ['int uint', 'decimal clause can only be used on integers'],
  f: ['double string', 'fixed-point clause can only be used on doubles'],
  e: ['double string', 'scientific clause can only be used on doubles'],
  b: ['bool int uint', 'only integers and bools can be formatted as binary'],
  x: ['int uint string bytes', 'only integers, byte buffers, and strings can be formatted as hex'],
  X: ['int uint string bytes', 'only integers, byte buffers, and strings can be formatted as hex'],
  o: ['int uint', 'octal clause can only be used on integers'],
}

interface Argument {
  readonly args: readonly CelValue[] | ListView
  readonly index: number
  readonly precision: string | undefined
  readonly letter: string | undefined
}

function formatArg({ args, index, precision, letter }: Argument): string | CelError {
  if (index >= sizeOf(args)) return new CelError(`index ${index} out of range`)
  if (letter === undefined || letter === '') return new CelError('unexpected end of string')
  const format = clauses[letter]
  if (format === undefined) return new CelError(unrecognized(letter))
  const digits = precision === undefined || precision === '' ? 6 : Math.min(Number(precision), 100)
  const text = format(itemAt(args, index), digits)
  if (typeof text === 'string') return text
  return new CelError(`error during formatting: ${text.message}`)
}

type Clause = (value: CelValue, digits: number) => string | CelError

const wrong = (problem: string, value: CelValue): CelError =>
  new CelError(`${problem}, was given ${typeNameOf(value)}`)

const integerOf = (value: CelValue): bigint | undefined =>
  typeof value === 'number' || typeof value === 'bigint'
    ? BigInt(value)
    : value instanceof Uint
      ? value.value
      : undefined

const decimal: Clause = value =>
  integerOf(value)?.toString() ?? wrong('decimal clause can only be used on integers', value)

/** NaN and infinities can also be strings. */
const doubleOf = (value: CelValue): number | undefined =>
  value instanceof Double
    ? value.value
    : value === 'NaN' || value === 'Infinity' || value === '-Infinity'
      ? Number(value)
      : undefined

const special = (value: number): string | undefined =>
  Number.isNaN(value) ? 'NaN' : Number.isFinite(value) ? undefined : value > 0 ? '∞' : '-∞'

const fixed: Clause = (value, digits) => {
  const double = doubleOf(value)
  if (double === undefined) return wrong('fixed-point clause can only be used on doubles', value)
  return special(double) ?? grouped(double, digits)
}

const grouped = (value: number, digits: number): string => {
  const [whole = '', fraction] = toFixed(value, digits).split('.')
  const withCommas = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? withCommas : `${withCommas}.${fraction}`
}

/** `toFixed` prints exponents from 1e21 on. */
const toFixed = (value: number, digits: number): string =>
  Math.abs(value) < 1e21
    ? value.toFixed(digits)
    : `${BigInt(value)}${digits === 0 ? '' : `.${'0'.repeat(digits)}`}`

const raised: Readonly<Record<string, string>> = {
  '-': '⁻',
  '0': '⁰',
  '1': '¹',
  '2': '²',
  '3': '³',
  '4': '⁴',
  '5': '⁵',
  '6': '⁶',
  '7': '⁷',
  '8': '⁸',
  '9': '⁹',
}

/** Always six decimals, as in the version of the library that Kubernetes uses. */
const scientific: Clause = value => {
  const double = doubleOf(value)
  if (double === undefined) return wrong('scientific clause can only be used on doubles', value)
  const plain = special(double)
  if (plain !== undefined) return plain
  const [mantissa = '', exponent = ''] = double.toExponential(6).split('e')
  const power = exponent.replace('+', '').replace(/^(-?)(\d)$/, '$10$2')
  return `${mantissa}×10${[...power].map(char => raised[char] ?? char).join('')}`
}

const binary: Clause = value =>
  typeof value === 'boolean'
    ? String(Number(value))
    : (integerOf(value)?.toString(2) ?? wrong('only integers and bools can be formatted as binary', value))

const hex: Clause = value => {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return (
    integerOf(value)?.toString(16) ??
    wrong('only integers, byte buffers, and strings can be formatted as hex', value)
  )
}

const octal: Clause = value =>
  integerOf(value)?.toString(8) ?? wrong('octal clause can only be used on integers', value)

const stringKinds =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps'

/** A value as a string. In lists and maps strings are quoted, and doubles have six decimals. */
const text: Clause = value => {
  if (typeof value === 'string') return value
  if (value instanceof Double) return special(value.value) ?? goFloat(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (value instanceof CelDuration) return durationText(value)
  if (value instanceof CelTimestamp) return timestampText({ ...value, offset: 0 })
  return value instanceof TypeValue ? value.name : nestedText(value)
}

function nestedText(value: CelValue): string | CelError {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Double) return special(value.value) ?? toFixed(value.value, 6)
  if (value === null || typeof value !== 'object') return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Uint8Array) return `b${JSON.stringify(Buffer.from(value).toString())}`
  if (value instanceof CelDuration) return `duration("${durationText(value)}")`
  if (value instanceof CelTimestamp) return `timestamp("${timestampText({ ...value, offset: 0 })}")`
  if (value instanceof TypeValue) return `type(${value.name})`
  if (isList(value)) return listText(value)
  return isMap(value) ? mapText(value) : wrong(stringKinds, value)
}

function listText(list: readonly CelValue[] | ListView): string | CelError {
  const parts: string[] = []
  for (const item of itemsOf(list)) {
    const part = nestedText(item)
    if (typeof part !== 'string') return part
    parts.push(part)
  }
  return `[${parts.join(', ')}]`
}

function mapText(map: Extract<CelValue, { isMap: true }>): string | CelError {
  const parts: (readonly [string, string])[] = []
  for (const key of map.keys()) {
    const name = kindOf(key) === 'double' ? wrong(stringKinds, key) : nestedText(key)
    const value = nestedText(map.get(key) ?? null)
    if (typeof name !== 'string') return name
    if (typeof value !== 'string') return value
    parts.push([name, value])
  }
  parts.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${parts.map(([name, value]) => `${name}:${value}`).join(', ')}}`
}

const upperHex: Clause = (value, digits) => {
  const digitsText = hex(value, digits)
  return typeof digitsText === 'string' ? digitsText.toUpperCase() : digitsText
}

const clauses: Readonly<Record<string, Clause>> = {
  s: text,
  d: decimal,
  f: fixed,
  e: scientific,
  b: binary,
  x: hex,
  X: upperHex,
  o: octal,
}

/** A number as Go's `%g` prints it: with an exponent of at least two digits below 1e-4 and from 1e21. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e21)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}
