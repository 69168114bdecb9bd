import { atOnce, compareTexts, formatJson, sortedSteps, type Work } from '../../json/json.ts'
import { isMembers, keysOf } from '../../json/values.ts'

/**
 * One element of a path, as in `fieldsV1`: `f:spec`, `k:{"name":"http"}`, `v:"x"`, `i:0` (`fieldpath.PathElement` of
 * structured-merge-diff). Equal elements are equal strings: keys are sorted, numbers are canonical.
 */
export type PathElement = string
export type FieldPath = readonly PathElement[]

/** JSON of Go escapes these, also in path elements. */
const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}
const goJson = (value: unknown): string =>
  formatJson(value).replace(/[<>&\u2028\u2029]/g, character => escapes[character] ?? character)

/** The ASCII characters that JSON does not escape. */
const plainText = "[ !#-%'-;=?-[\\]-~]*"
const plain = new RegExp(`^${plainText}$`)

const valueJson = (value: unknown): string =>
  typeof value === 'string' && plain.test(value) ? `"${value}"` : goJson(value)

export const fieldElement = (name: string): PathElement => `f:${name}`
export const valueElement = (value: unknown): PathElement => `v:${valueJson(value)}`

/** `keys`: the key fields that a list item has, sorted by name. */
export const keyElement = (keys: readonly (readonly [name: string, value: unknown])[]): PathElement =>
  `k:{${keys.map(([name, value]) => `${JSON.stringify(name)}:${valueJson(value)}`).join(',')}}`

/** The name of a field element; undefined for other elements. */
export const fieldOf = (element: PathElement): string | undefined =>
  element.startsWith('f:') ? element.slice(2) : undefined

export const isKey = (element: PathElement): boolean => element.startsWith('k:')

const plainValue = `("${plainText}"|0|[1-9]\\d{0,14})`
/** Elements that are canonical already: fields, plain strings, small integers, and keys with one such value. */
const simple = new RegExp(`^(f:|v:${plainValue}$|k:\\{"${plainText}":${plainValue}\\}$)`)

/**
 * The canonical form of an element; undefined for an unknown kind of element. Throws `SyntaxError` for an invalid
 * element (`fieldpath.DeserializePathElement`).
 */
export function parseElement(text: string): PathElement | undefined {
  if (simple.test(text)) return text
  if (text.length < 2) throw new SyntaxError('key must be 2 characters long:')
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text}`)
  switch (text[0]) {
    case 'f':
      return text
    case 'v':
      return valueElement(JSON.parse(text.slice(2)))
    case 'k':
      return parseKey(text)
    case 'i':
      return `i:${parseIndex(text.slice(2))}`
    default:
      return undefined
  }
}

function parseKey(text: string): PathElement {
  const key: unknown = JSON.parse(text.slice(2))
  if (!isMembers(key)) throw new SyntaxError(`not a key: ${text}`)
  return keyElement(Object.entries(key).sort(([a], [b]) => compareTexts(a, b)))
}

function parseIndex(text: string): number {
  if (!/^[+-]?\d+$/.test(text))
    throw new SyntaxError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}

/** An element in messages: `.spec`, `[name="http"]`, `[="x"]`, `[0]` (rules.md 5.43). */
export function printElement(element: PathElement): string {
  const text = element.slice(2)
  if (element.startsWith('f:')) return `.${text}`
  if (element.startsWith('i:')) return `[${text}]`
  const value: unknown = JSON.parse(text)
  if (!isKey(element) || !isMembers(value)) return `[=${printValue(value)}]`
  return `[${Object.entries(value)
    .map(([name, part]) => `${name}=${printValue(part)}`)
    .join(',')}]`
}

const printValue = (value: unknown): string => formatJson(value)

export const printPath = (path: FieldPath): string => path.map(printElement).join('')

const kinds = ['f', 'k', 'v', 'i']

interface Place {
  readonly element: PathElement
  readonly kind: number
  readonly value: unknown
}

function placeOf(element: PathElement): Place {
  const value: unknown = fieldOf(element) ?? JSON.parse(element.slice(2))
  return { element, kind: kinds.indexOf(element.charAt(0)), value }
}

/** Sorts elements: fields by name, then keys, values (numbers, strings, Booleans), indexes. */
export const inOrder = (elements: Iterable<PathElement>): readonly PathElement[] =>
  atOnce(orderSteps(elements))

/** What `inOrder` returns, in steps. */
export function* orderSteps(elements: Iterable<PathElement>): Generator<void, readonly PathElement[]> {
  const sorted = yield* sortedSteps(Array.from(elements, placeOf), comparePlaces)
  return sorted.map(({ element }) => element)
}

const comparePlaces = (a: Place, b: Place): number => a.kind - b.kind || compareValues(a.value, b.value)

function compareValues(a: unknown, b: unknown): number {
  if (isMembers(a) && isMembers(b)) return compareKeys(Object.entries(a), Object.entries(b))
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b)
  if (typeof a !== typeof b) return rank(a) - rank(b)
  return compareTexts(String(a), String(b))
}

const ranks = ['number', 'string', 'boolean']
const rank = (value: unknown): number => ranks.indexOf(typeof value)

type Entries = readonly (readonly [string, unknown])[]

function compareKeys(a: Entries, b: Entries): number {
  for (const [i, [name, value]] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const order = compareTexts(name, other[0]) || compareValues(value, other[1])
    if (order !== 0) return order
  }
  return a.length - b.length
}

export type Members = Readonly<Record<string, unknown>>
export type List = readonly unknown[]

export { isMembers }
export const isList = (value: unknown): value is List => Array.isArray(value)
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'
export const isScalar = (value: unknown): value is string | number | bigint | boolean =>
  typeof value === 'string' || typeof value === 'boolean' || isNumber(value)

/** An own member; undefined if there is none. */
export const own = (members: Members, key: string): unknown =>
  Object.hasOwn(members, key) ? members[key] : undefined

/** Members that are copied at once: that takes less than a millisecond. */
const copiedAtOnce = 1024

/** An object of the entries, in steps. */
export function* membersFrom<T>(
  entries: ReadonlyMap<string, T>,
  work: Work,
): Generator<void, Readonly<Record<string, T>>> {
  if (entries.size <= copiedAtOnce) return Object.fromEntries(entries)
  const members: Record<string, T> = {}
  for (const [key, value] of entries) {
    if (key === '__proto__') Object.defineProperty(members, key, { ...property, value })
    else members[key] = value
    if (work.isStepDone()) yield
  }
  return members
}

/** Of a member that an assignment would not make. */
const property = { writable: true, enumerable: true, configurable: true }

/** Deep equality, in steps; numbers and bigints are compared by value. */
export function* equalSteps(a: unknown, b: unknown, work: Work): Generator<void, boolean> {
  if (a === b) return true
  if (isNumber(a) && isNumber(b)) return typeof a !== typeof b && Number(a) === Number(b)
  if (isList(a)) return isList(b) && (yield* equalLists(a, b, work))
  return isMembers(a) && isMembers(b) && (yield* equalMembers(a, b, work))
}

function* equalLists(a: List, b: List, work: Work): Generator<void, boolean> {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i] && !(yield* equalSteps(a[i], b[i], work))) return false
    if (work.isStepDone()) yield
  }
  return true
}

function* equalMembers(a: Members, b: Members, work: Work): Generator<void, boolean> {
  const keys = keysOf(a)
  if (keys.length !== keysOf(b).length) return false
  for (const key of keys) {
    if (!Object.hasOwn(b, key)) return false
    if (a[key] !== b[key] && !(yield* equalSteps(a[key], b[key], work))) return false
    if (work.isStepDone()) yield
  }
  return true
}
