import { formatJson } from '../encoding/json.ts'
import { isMembers, isNumber } from './values.ts'

/**
 * One step of a path, written as `fieldsV1` writes it: `f:spec`, `k:{"name":"http"}`, `v:"x"`, `i:0`. Equal steps are
 * equal texts: keys are sorted, numbers have one form.
 */
export type Element = string
export type Path = readonly Element[]

/** Go's JSON writes these as escapes, also inside path elements. */
const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}
const goJson = (value: unknown): string =>
  formatJson(value).replace(/[<>&\u2028\u2029]/g, character => escapes[character] ?? character)

export const fieldElement = (name: string): Element => `f:${name}`
export const valueElement = (value: unknown): Element => `v:${goJson(value)}`

export function keyElement(key: Readonly<Record<string, unknown>>): Element {
  const entries = Object.entries(key).sort(([a], [b]) => compareTexts(a, b))
  return `k:{${entries.map(([name, value]) => `${JSON.stringify(name)}:${goJson(value)}`).join(',')}}`
}

/** The name of a field; undefined for other elements. */
export const fieldOf = (element: Element): string | undefined =>
  element.startsWith('f:') ? element.slice(2) : undefined

export const isKey = (element: Element): boolean => element.startsWith('k:')

const plainValue = '("[^"\\\\<>&\\u2028\\u2029]*"|0|[1-9]\\d{0,14})'
/** Elements in their one form: fields, plain texts and small integers, and keys of one such value. */
const simple = new RegExp(`^(f:|v:${plainValue}$|k:\\{"[^"\\\\]*":${plainValue}\\}$)`)

/**
 * The canonical form of an element that somebody wrote; undefined for kinds of elements that a later version may know.
 * Throws `SyntaxError` for what is no element.
 */
export function parseElement(text: string): Element | undefined {
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

function parseKey(text: string): Element {
  const key: unknown = JSON.parse(text.slice(2))
  if (!isMembers(key)) throw new SyntaxError(`not a key: ${text}`)
  return keyElement(key)
}

function parseIndex(text: string): number {
  if (!/^[+-]?\d+$/.test(text))
    throw new SyntaxError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}

/** As messages show it: `.spec`, `[name="http"]`, `[="x"]`, `[0]` (chapter 40, rule 5.43). */
export function printElement(element: Element): string {
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

export const printPath = (path: Path): string => path.map(printElement).join('')

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const kinds = ['f', 'k', 'v', 'i']

/** The order in which paths are listed: fields by name, then keys, values (numbers, strings, booleans), indexes. */
export function compareElements(a: Element, b: Element): number {
  const [x, y] = [kinds.indexOf(a.charAt(0)), kinds.indexOf(b.charAt(0))]
  if (x !== y) return x - y
  if (a.startsWith('f:')) return compareTexts(a, b)
  return compareValues(JSON.parse(a.slice(2)), JSON.parse(b.slice(2)))
}

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
