import { elementsOf } from './elements.ts'
import { type Element, fieldElement, type Path } from './fieldpath.ts'
import { type FieldSet, type FieldSetBuilder, insert, newFieldSet } from './fieldset.ts'
import { type Branch, branchOf, type ListType, type MapType, sameBranch, type Type } from './types.ts'
import { equals, isList, isMembers, type List, type Members } from './values.ts'

/** What differs between two values; no path is in two of the sets. */
export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

interface Walk {
  readonly removed: FieldSetBuilder
  readonly modified: FieldSetBuilder
  readonly added: FieldSetBuilder
  readonly path: Path
}

/** Absent is undefined; null is a value. */
interface Sides {
  readonly left: unknown
  readonly right: unknown
}

/** Compares two states of a value (chapter 40, rule 5.46). Throws a `TypedError` for items that cannot be told apart. */
export function compare(type: Type, left: unknown, right: unknown): Comparison {
  const walk = { removed: newFieldSet(), modified: newFieldSet(), added: newFieldSet(), path: [] }
  visit(type, { left, right }, walk)
  return walk
}

function visit(type: Type, sides: Sides, walk: Walk): void {
  const { left, right } = sides
  // Most parts of two states are equal, and comparing them whole is ten times as fast as looking for differences.
  if (equals(left, right)) return
  if (right === undefined || (left !== undefined && !sameBranch(type, left, right))) {
    visitAs(branchOf(type, left), type, sides, walk)
  }
  if (right !== undefined) visitAs(branchOf(type, right), type, sides, walk)
  if (left === undefined) insert(walk.added, walk.path)
  else if (right === undefined) insert(walk.removed, walk.path)
}

function visitAs(branch: Branch, type: Type, { left, right }: Sides, walk: Walk): void {
  const [a, b] = [isMembers(left) ? left : {}, isMembers(right) ? right : {}]
  const [c, d] = [isList(left) ? left : [], isList(right) ? right : []]
  if (branch === 'map' && type.map && !type.map.isAtomic && size(a) + size(b) > 0)
    visitMembers(type.map, a, b, walk)
  else if (branch === 'list' && type.list && !type.list.isAtomic && c.length + d.length > 0)
    visitItems(type.list, c, d, walk)
  else if (left !== undefined && right !== undefined && !equals(left, right)) insert(walk.modified, walk.path)
}

const size = (members: Members): number => Object.keys(members).length

const step = (walk: Walk, element: Element): Walk => ({ ...walk, path: [...walk.path, element] })

function visitMembers(map: MapType, left: Members, right: Members, walk: Walk): void {
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const type = map.member(key)
    if (type === undefined) continue
    visit(type, { left: own(left, key), right: own(right, key) }, step(walk, fieldElement(key)))
  }
}

const own = (members: Members, key: string): unknown =>
  Object.hasOwn(members, key) ? members[key] : undefined

/** Items that are there twice on one side are compared as a bundle. */
function visitItems(list: ListType, left: List, right: List, walk: Walk): void {
  const [a, b] = [grouped(list, left), grouped(list, right)]
  for (const element of new Set([...a.keys(), ...b.keys()])) {
    const [before, after] = [a.get(element) ?? [], b.get(element) ?? []]
    const inner = step(walk, element)
    if (before.length > 1 && after.length > 1) {
      if (!equals(before, after)) insert(walk.modified, inner.path)
    } else if (before.length > 1) {
      if (after.length > 0) visit(list.item, { left: undefined, right: after[0] }, inner)
      insert(walk.removed, inner.path)
    } else if (after.length > 1) {
      if (before.length > 0) visit(list.item, { left: before[0], right: undefined }, inner)
      insert(walk.added, inner.path)
    } else visit(list.item, { left: before[0], right: after[0] }, inner)
  }
}

function grouped(list: ListType, items: List): ReadonlyMap<Element, List> {
  const groups = new Map<Element, unknown[]>()
  elementsOf(list, items).forEach((element, i) => {
    const group = groups.get(element)
    if (group === undefined) groups.set(element, [items[i]])
    else group.push(items[i])
  })
  return groups
}
