import { goText } from '../../json/gotext.ts'
import {
  isList,
  isMembers,
  keyElement,
  type List,
  own,
  type PathElement,
  valueElement,
} from '../fieldpath/fieldpath.ts'
import { type ListType, TypedError } from './types.ts'

/** The element of items without a key. */
export const nameless: PathElement = '?'

interface Known {
  readonly list: ListType
  readonly elements: readonly PathElement[]
}

/** All steps of an apply need the elements of the same lists. */
const known = new WeakMap<List, Known>()

/**
 * The path elements of the items of an associative list. Items without a key, such as partly removed ones, all get
 * `nameless`.
 */
export function knownElementsOf(list: ListType, items: List): readonly PathElement[] {
  const last = known.get(items)
  if (last?.list === list) return last.elements
  const elements = items.map(item => elementOf(list, item) ?? nameless)
  known.set(items, { list, elements })
  return elements
}

/** Like `knownElementsOf`; throws a `TypedError` for items without a key. */
export function elementsOf(list: ListType, items: List): readonly PathElement[] {
  const elements = knownElementsOf(list, items)
  const index = elements.indexOf(nameless)
  if (index >= 0) throw new TypedError([{ path: '', text: namelessText(list, items[index], index) }])
  return elements
}

/** The problem of an item without a key. */
export const namelessText = (list: ListType, item: unknown, index: number): string =>
  `element ${index}: ${list.keys.length === 0 ? setProblem(item) : keyProblem(list, item)}`

/**
 * An item is identified by the keys that it has or that have a default (rules.md 5.36); without key fields, by its
 * value.
 */
function elementOf(list: ListType, item: unknown): PathElement | undefined {
  if (list.keys.length === 0) return typeof item === 'object' ? undefined : valueElement(item)
  if (!isMembers(item)) return undefined
  const keys: [string, unknown][] = []
  for (const name of list.sortedKeys) {
    const given = own(item, name)
    const value = given === undefined ? list.keyDefault(name) : given
    if (value !== undefined) keys.push([name, value])
  }
  return keys.length === 0 ? undefined : keyElement(keys)
}

function setProblem(item: unknown): string {
  if (isMembers(item)) return "associative list without keys has an element that's a map type"
  if (isList(item)) return 'not supported: associative list with lists as elements'
  return "associative list without keys has an element that's an explicit null"
}

function keyProblem(list: ListType, item: unknown): string {
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isMembers(item)) return 'associative list with keys may not have non-map elements'
  const keys = goText(list.keys.map(key => JSON.stringify(key)))
  return `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`
}
