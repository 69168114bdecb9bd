import { knownElementsOf } from './elements.ts'
import { type Element, fieldElement } from './fieldpath.ts'
import { type FieldSet, type FieldSetBuilder, newFieldSet } from './fieldset.ts'
import { branchOf, type ListType, type MapType, type Type } from './types.ts'
import { isList, isMembers, type List, type Members } from './values.ts'

/** What an applied value owns (chapter 40, rule 5.45). */
export function toFieldSet(type: Type, value: unknown): FieldSet {
  const set = newFieldSet()
  visit(type, value, set)
  return set
}

/** Adds what is owned below a value; returns whether the value is owned itself, as a whole. */
function visit(type: Type, value: unknown, set: FieldSetBuilder): boolean {
  const branch = branchOf(type, value)
  if (branch === 'scalar' || type[branch]?.isAtomic === true) return true
  if (branch === 'map' && type.map && isMembers(value)) visitMembers(type.map, value, set)
  else if (type.list && isList(value)) visitItems(type.list, value, set)
  return false
}

function add(set: FieldSetBuilder, element: Element, isOwned: boolean, below: FieldSetBuilder): void {
  if (isOwned) set.members.add(element)
  if (below.members.size > 0 || below.children.size > 0) set.children.set(element, below)
}

function visitMembers(map: MapType, members: Members, set: FieldSetBuilder): void {
  for (const key of Object.keys(members)) {
    const type = map.member(key)
    if (type === undefined) continue
    const value = members[key]
    const below = newFieldSet()
    const isWhole = visit(type, value, below)
    const isHollow = value === null || (isMembers(value) && Object.keys(value).length === 0)
    add(set, fieldElement(key), isWhole || isHollow || !map.declares(key), below)
  }
}

/** Of items that are there twice, nothing below is owned. */
function visitItems(list: ListType, items: List, set: FieldSetBuilder): void {
  const elements = knownElementsOf(list, items)
  const count = new Map<Element, number>()
  for (const element of elements) count.set(element, (count.get(element) ?? 0) + 1)
  elements.forEach((element, i) => {
    const below = newFieldSet()
    if (count.get(element) === 1) visit(list.item, items[i], below)
    add(set, element, true, below)
  })
}
