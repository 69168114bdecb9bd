import { goText } from '../encoding/gotext.ts'
import { TypedError } from './failure.ts'
import { type Element, keyElement, valueElement } from './fieldpath.ts'
import type { ListType } from './types.ts'
import { isList, isMembers, type List } from './values.ts'

/** How an item of an associative list is told apart; throws a `TypedError` for items that cannot be. */
export function elementOf(list: ListType, item: unknown, index: number): Element {
  const why = problemOf(list, item)
  if (why !== undefined) throw new TypedError([{ path: '', text: `element ${index}: ${why}` }])
  return list.keys.length === 0 ? valueElement(item) : keyElement(keyOf(list, item))
}

export const elementsOf = (list: ListType, items: List): readonly Element[] =>
  items.map((item, i) => elementOf(list, item, i))

/** What items are called that cannot be told apart. */
const nameless: Element = '?'

/** Like `elementsOf`; items that cannot be told apart all have the same name: half-removed items have lost their keys. */
export const knownElementsOf = (list: ListType, items: List): readonly Element[] =>
  items.map((item, i) => (problemOf(list, item) === undefined ? elementOf(list, item, i) : nameless))

const problemOf = (list: ListType, item: unknown): string | undefined =>
  list.keys.length === 0 ? setProblem(item) : keyProblem(list, item)

function setProblem(item: unknown): string | undefined {
  if (isMembers(item)) return "associative list without keys has an element that's a map type"
  if (isList(item)) return 'not supported: associative list with lists as elements'
  return item === null ? "associative list without keys has an element that's an explicit null" : undefined
}

function keyProblem(list: ListType, item: unknown): string | undefined {
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isMembers(item)) return 'associative list with keys may not have non-map elements'
  if (Object.keys(keyOf(list, item)).length > 0) return undefined
  const keys = goText(list.keys.map(key => JSON.stringify(key)))
  return `associative list with keys has an element that omits all key fields ${keys} (and doesn't have default values for any key fields)`
}

/** The keys that an item has, or has by default (chapter 40, rule 5.36). */
function keyOf(list: ListType, item: unknown): Readonly<Record<string, unknown>> {
  const members = isMembers(item) ? item : {}
  const entries = list.keys.map(key => [
    key,
    Object.hasOwn(members, key) ? members[key] : list.keyDefault(key),
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
