import { knownElementsOf } from './elements.ts'
import { type Element, fieldElement, type Path } from './fieldpath.ts'
import { type FieldSet, type FieldSetBuilder, insert, newFieldSet } from './fieldset.ts'
import { branchOf, type ListType, type MapType, type Type } from './types.ts'
import { isList, isMembers, type List, type Members } from './values.ts'

interface Walk {
  readonly set: FieldSetBuilder
  readonly path: Path
}

/** What an applied value owns (chapter 40, rule 5.45). */
export function toFieldSet(type: Type, value: unknown): FieldSet {
  const set = newFieldSet()
  visit(type, value, { set, path: [] })
  return set
}

function visit(type: Type, value: unknown, walk: Walk): void {
  const branch = branchOf(type, value)
  const isWhole = branch === 'scalar' || type[branch]?.isAtomic === true
  if (isWhole) insert(walk.set, walk.path)
  else if (branch === 'map' && type.map && isMembers(value)) visitMembers(type.map, value, walk)
  else if (type.list && isList(value)) visitItems(type.list, value, walk)
}

const step = ({ set, path }: Walk, element: Element): Walk => ({ set, path: [...path, element] })

function visitMembers(map: MapType, members: Members, walk: Walk): void {
  for (const [key, value] of Object.entries(members)) {
    const type = map.member(key)
    if (type === undefined) continue
    const inner = step(walk, fieldElement(key))
    visit(type, value, inner)
    const isHollow = value === null || (isMembers(value) && Object.keys(value).length === 0)
    if (isHollow || !map.declares(key)) insert(inner.set, inner.path)
  }
}

/** Of items that are there twice, nothing below is owned. */
function visitItems(list: ListType, items: List, walk: Walk): void {
  const elements = knownElementsOf(list, items)
  const count = new Map<Element, number>()
  for (const element of elements) count.set(element, (count.get(element) ?? 0) + 1)
  elements.forEach((element, i) => {
    const inner = step(walk, element)
    if (count.get(element) === 1) visit(list.item, items[i], inner)
    insert(inner.set, inner.path)
  })
}
