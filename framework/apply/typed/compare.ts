import { mostMembers } from '../../json/exactjson.ts'
import { atOnce, Work } from '../../json/json.ts'
import { keysOf } from '../../json/values.ts'
import { tooLarge } from '../../meta/errors.ts'
import {
  equalSteps,
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
type Found = { readonly [K in keyof Comparison]: SetBuilder } & { readonly work: Work }

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
export const compare = (type: MergeType, left: unknown, right: unknown): Comparison =>
  atOnce(comparisonSteps(type, left, right))

/** What `compare` returns, in steps. */
export function* comparisonSteps(
  type: MergeType,
  left: unknown,
  right: unknown,
): Generator<void, Comparison> {
  const found = newFound(new Work())
  if (left !== right) yield* visit(type, { left, right }, found)
  return built(found)
}

const newFound = (work: Work): Found => ({
  work,
  removed: new SetBuilder(),
  modified: new SetBuilder(),
  added: new SetBuilder(),
})

const built = ({ removed, modified, added }: Found): Comparison => ({
  removed: removed.build(),
  modified: modified.build(),
  added: added.build(),
})

function* visit(type: MergeType, sides: Sides, found: Found): Generator<void, Own> {
  const { left, right } = sides
  const isOther = right === undefined || (left !== undefined && !sameBranch(type, left, right))
  const before = isOther ? yield* visitAs(branchOf(type, left), type, sides, found) : undefined
  const after = right === undefined ? undefined : yield* visitAs(branchOf(type, right), type, sides, found)
  if (left === undefined) return 'added'
  return right === undefined ? 'removed' : (before ?? after)
}

function* visitAs(
  branch: Branch,
  type: MergeType,
  { left, right }: Sides,
  found: Found,
): Generator<void, Own> {
  if (branch === 'map' && type.map?.isAtomic === false) {
    const [a, b] = [isMembers(left) ? left : {}, isMembers(right) ? right : {}]
    if (yield* visitMembers(type.map, a, b, found)) return undefined
  }
  if (branch === 'list' && type.list?.isAtomic === false) {
    const [a, b] = [isList(left) ? left : [], isList(right) ? right : []]
    if (yield* visitItems(type.list, a, b, found)) return undefined
  }
  if (left === undefined || right === undefined) return undefined
  return (yield* equalSteps(left, right, found.work)) ? undefined : 'modified'
}

/** Compares the items one step below. */
function* step(type: MergeType, element: PathElement, sides: Sides, found: Found): Generator<void> {
  if (found.work.isStepDone()) yield
  if (!addText(element, sides, found)) yield* stepBelow(type, element, sides, found)
}

/** Adds a text that is absent on one side, like most members of large maps; false: the sides are others. */
function addText(element: PathElement, { left, right }: Sides, found: Found): boolean {
  if (left === undefined && typeof right === 'string') found.added.add(element, true, noFields)
  else if (right === undefined && typeof left === 'string') found.removed.add(element, true, noFields)
  else return false
  return true
}

function* stepBelow(type: MergeType, element: PathElement, sides: Sides, found: Found): Generator<void> {
  const below = newFound(found.work)
  const own = yield* visit(type, sides, below)
  const { removed, modified, added } = built(below)
  found.removed.add(element, own === 'removed', removed)
  found.modified.add(element, own === 'modified', modified)
  found.added.add(element, own === 'added', added)
}

/** Returns whether one side has a member. Identical values are skipped: a changed object shares its unchanged parts. */
function* visitMembers(map: MapType, left: Members, right: Members, found: Found): Generator<void, boolean> {
  const keys = keysOfBoth(left, right)
  for (const key of keys) {
    if (found.work.isStepDone()) yield
    const sides = { left: own(left, key), right: own(right, key) }
    const type = sides.left === sides.right ? undefined : map.member(key)
    if (type !== undefined && !addText(fieldElement(key), sides, found))
      yield* stepBelow(type, fieldElement(key), sides, found)
  }
  return keys.length > 0
}

function keysOfBoth(left: Members, right: Members): readonly string[] {
  const [before, after] = [keysOf(left), keysOf(right)]
  if (before.length === 0) return after
  const added = after.filter(key => !Object.hasOwn(left, key))
  return added.length === 0 ? before : [...before, ...added]
}

/** Returns whether one side has an item. Items with the same key are compared together. */
function* visitItems(list: ListType, left: List, right: List, found: Found): Generator<void, boolean> {
  checkCount(left, right)
  const a = yield* grouped(list, left, found.work)
  const b = yield* grouped(list, right, found.work)
  for (const [element, items] of a) yield* visitGroup(list, element, [items, b.get(element) ?? []], found)
  for (const [element, items] of b) if (!a.has(element)) yield* visitGroup(list, element, [[], items], found)
  return a.size + b.size > 0
}

function* visitGroup(
  list: ListType,
  element: PathElement,
  [before, after]: readonly [List, List],
  found: Found,
): Generator<void> {
  const [left, right] = [before[0], after[0]]
  if (before.length > 1 && after.length > 1) {
    if (!(yield* equalSteps(before, after, found.work))) found.modified.add(element, true, noFields)
  } else if (before.length > 1) {
    if (after.length > 0) yield* step(list.item, element, { left: undefined, right }, found)
    found.removed.add(element, true, noFields)
  } else if (after.length > 1) {
    if (before.length > 0) yield* step(list.item, element, { left, right: undefined }, found)
    found.added.add(element, true, noFields)
  } else if (left !== right) yield* step(list.item, element, { left, right }, found)
}

/** Each item has an owner in managedFields, whose texts are members of one object. */
function checkCount(before: List, after: List): void {
  if (after.length > mostMembers && after.length > before.length)
    throw tooLarge(`limit of a list of type set or map is ${mostMembers} items`)
}

function* grouped(list: ListType, items: List, work: Work): Generator<void, ReadonlyMap<PathElement, List>> {
  const groups = new Map<PathElement, unknown[]>()
  let i = 0
  for (const element of elementsOf(list, items)) {
    const group = groups.get(element)
    if (group === undefined) groups.set(element, [items[i]])
    else group.push(items[i])
    i++
    if (work.isStepDone()) yield
  }
  return groups
}
