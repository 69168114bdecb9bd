import { atOnce, Work } from '../../json/json.ts'
import {
  fieldElement,
  isList,
  isMembers,
  type List,
  type Members,
  membersFrom,
} from '../fieldpath/fieldpath.ts'
import { below, type FieldSet, isEmpty } from '../fieldpath/fieldset.ts'
import { knownElementsOf } from './elements.ts'
import { branchOf, type ListType, type MapType, type MergeType } from './types.ts'

/**
 * The value without the fields of the set (`typed.TypedValue.RemoveItems`; rules.md 5.48). A value that loses all its
 * fields becomes an empty container if a field below it was in the set, and null if it was absent.
 */
export const removeItems = (type: MergeType, value: unknown, set: FieldSet): unknown =>
  atOnce(removeSteps(type, value, set, new Work()))

/** What `removeItems` returns, in steps. */
export function* removeSteps(
  type: MergeType,
  value: unknown,
  set: FieldSet,
  work: Work,
): Generator<void, unknown> {
  switch (branchOf(type, value)) {
    case 'map':
      return isMembers(value) && type.map ? yield* removeMembers(type.map, value, set, work) : null
    case 'list':
      return isList(value) && type.list ? yield* removeFromList(type.list, value, set, work) : null
    default:
      return value
  }
}

/** Removes fields below an element. */
function* removeBelow(
  type: MergeType | undefined,
  value: unknown,
  set: FieldSet,
  work: Work,
): Generator<void, unknown> {
  if (isEmpty(set)) return value
  const left = type === undefined ? value : yield* removeSteps(type, value, set, work)
  if (left !== null) return left
  if (isMembers(value)) return {}
  return isList(value) ? [] : null
}

function* removeMembers(
  map: MapType,
  members: Members,
  set: FieldSet,
  work: Work,
): Generator<void, Members | null> {
  if (map.isAtomic) return null
  const kept = new Map<string, unknown>()
  for (const key of Object.keys(members)) {
    const element = fieldElement(key)
    if (work.isStepDone()) yield
    if (set.members.has(element)) continue
    kept.set(key, yield* removeBelow(map.member(key), members[key], below(set, element), work))
  }
  return kept.size === 0 ? null : yield* membersFrom(kept, work)
}

function* removeFromList(
  list: ListType,
  items: List,
  set: FieldSet,
  work: Work,
): Generator<void, List | null> {
  if (list.isAtomic || items.length === 0) return null
  const elements = knownElementsOf(list, items)
  const kept: unknown[] = []
  for (const [i, item] of items.entries()) {
    const element = elements[i] ?? ''
    if (work.isStepDone()) yield
    if (set.members.has(element)) continue
    kept.push(yield* removeBelow(list.item, item, below(set, element), work))
  }
  return kept.length === 0 ? null : kept
}
