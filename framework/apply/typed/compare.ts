import {
  equals,
  fieldElement,
  isList,
  isMembers,
  type List,
  type Members,
  own,
  type PathElement,
} from '../fieldpath/fieldpath.ts'
import { type FieldSet, noFields, SetBuilder } from '../fieldpath/fieldset.ts'
import { elementsOf } from './elements.ts'
import { type Branch, branchOf, type ListType, type MapType, type MergeType, sameBranch } from './types.ts'

/** The differences of two values; a path is in one of the sets only. */
export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

/** The comparison while it is computed. */
type Found = { readonly [K in keyof Comparison]: SetBuilder }

/** undefined is absent; null is a value. */
interface Sides {
  readonly left: unknown
  readonly right: unknown
}

/** How the value itself differs; the values below it may differ too. */
type Own = keyof Comparison | undefined

/**
 * Compares two states of a value (`typed.TypedValue.Compare`; rules.md 5.46). Throws a `TypedError` for list items
 * without a key.
 */
export function compare(type: MergeType, left: unknown, right: unknown): Comparison {
  const found = newFound()
  if (left !== right) visit(type, { left, right }, found)
  return built(found)
}

const newFound = (): Found => ({
  removed: new SetBuilder(),
  modified: new SetBuilder(),
  added: new SetBuilder(),
})

const built = ({ removed, modified, added }: Found): Comparison => ({
  removed: removed.build(),
  modified: modified.build(),
  added: added.build(),
})

function visit(type: MergeType, sides: Sides, found: Found): Own {
  const { left, right } = sides
  const isOther = right === undefined || (left !== undefined && !sameBranch(type, left, right))
  const before = isOther ? visitAs(branchOf(type, left), type, sides, found) : undefined
  const after = right === undefined ? undefined : visitAs(branchOf(type, right), type, sides, found)
  if (left === undefined) return 'added'
  return right === undefined ? 'removed' : (before ?? after)
}

function visitAs(branch: Branch, type: MergeType, { left, right }: Sides, found: Found): Own {
  if (branch === 'map' && type.map?.isAtomic === false) {
    const [a, b] = [isMembers(left) ? left : {}, isMembers(right) ? right : {}]
    if (visitMembers(type.map, a, b, found)) return undefined
  }
  if (branch === 'list' && type.list?.isAtomic === false) {
    const [a, b] = [isList(left) ? left : [], isList(right) ? right : []]
    if (visitItems(type.list, a, b, found)) return undefined
  }
  return left === undefined || right === undefined || equals(left, right) ? undefined : 'modified'
}

/** Compares the values one step below. Identical values are skipped: a changed object shares its unchanged parts. */
function step(type: MergeType, element: PathElement, sides: Sides, found: Found): void {
  const below = newFound()
  const own = visit(type, sides, below)
  const { removed, modified, added } = built(below)
  found.removed.add(element, own === 'removed', removed)
  found.modified.add(element, own === 'modified', modified)
  found.added.add(element, own === 'added', added)
}

/** Returns whether one side has a member. */
function visitMembers(map: MapType, left: Members, right: Members, found: Found): boolean {
  let isEmpty = true
  const visitMember = (key: string): void => {
    isEmpty = false
    const sides = { left: own(left, key), right: own(right, key) }
    const type = sides.left === sides.right ? undefined : map.member(key)
    if (type !== undefined) step(type, fieldElement(key), sides, found)
  }
  for (const key of Object.keys(left)) visitMember(key)
  for (const key of Object.keys(right)) if (!Object.hasOwn(left, key)) visitMember(key)
  return !isEmpty
}

/** Returns whether one side has an item. Items with the same key are compared together. */
function visitItems(list: ListType, left: List, right: List, found: Found): boolean {
  const [a, b] = [grouped(list, left), grouped(list, right)]
  for (const [element, items] of a) visitGroup(list, element, [items, b.get(element) ?? []], found)
  for (const [element, items] of b) if (!a.has(element)) visitGroup(list, element, [[], items], found)
  return a.size + b.size > 0
}

function visitGroup(
  list: ListType,
  element: PathElement,
  [before, after]: readonly [List, List],
  found: Found,
): void {
  const [left, right] = [before[0], after[0]]
  if (before.length > 1 && after.length > 1) {
    if (!equals(before, after)) found.modified.add(element, true, noFields)
  } else if (before.length > 1) {
    if (after.length > 0) step(list.item, element, { left: undefined, right }, found)
    found.removed.add(element, true, noFields)
  } else if (after.length > 1) {
    if (before.length > 0) step(list.item, element, { left, right: undefined }, found)
    found.added.add(element, true, noFields)
  } else if (left !== right) step(list.item, element, { left, right }, found)
}

function grouped(list: ListType, items: List): ReadonlyMap<PathElement, List> {
  const groups = new Map<PathElement, unknown[]>()
  elementsOf(list, items).forEach((element, i) => {
    const group = groups.get(element)
    if (group === undefined) groups.set(element, [items[i]])
    else group.push(items[i])
  })
  return groups
}
