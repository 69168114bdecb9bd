import { atOnce, Work } from '../../json/json.ts'
import {
  fieldElement,
  fieldOf,
  isKey,
  isList,
  isMembers,
  type List,
  type Members,
  type PathElement,
  printElement,
} from '../fieldpath/fieldpath.ts'
import { type FieldSet, noFields, SetBuilder, type SetSteps } from '../fieldpath/fieldset.ts'
import { knownElementsOf } from './elements.ts'
import { branchOf, type ListType, type MapType, type MergeType } from './types.ts'

/** The fields that an applied value owns (`typed.TypedValue.ToFieldSet`; rules.md 5.45). */
export const toFieldSet = (type: MergeType, value: unknown): FieldSet =>
  atOnce(fieldSetSteps(type, value, new Work()))

/** What `toFieldSet` returns, in steps. */
export function* fieldSetSteps(type: MergeType, value: unknown, work: Work): SetSteps {
  const branch = branchOf(type, value)
  if (branch === 'map' && type.map && isMembers(value)) return yield* ofMembers(type.map, value, work)
  if (branch === 'list' && type.list && isList(value)) return yield* ofItems(type.list, value, work)
  return noFields
}

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Whether the value itself is owned, and no field below it. */
function isWhole(type: MergeType, value: unknown): boolean {
  const branch = branchOf(type, value)
  return branch === 'scalar' || type[branch]?.isAtomic === true
}

function* ofMembers(map: MapType, members: Members, work: Work): SetSteps {
  if (map.isAtomic) return noFields
  const set = new SetBuilder()
  for (const key of Object.keys(members)) {
    const type = map.member(key)
    if (type === undefined) continue
    const value = members[key]
    const isOwned = isHollow(value) || !map.declares(key) || isWhole(type, value)
    const below = isContainer(value) ? yield* fieldSetSteps(type, value, work) : noFields
    set.add(fieldElement(key), isOwned, below)
    if (work.isStepDone()) yield
  }
  return set.build()
}

const isHollow = (value: unknown): boolean =>
  value === null || (isMembers(value) && Object.keys(value).length === 0)

/** Of items with the same key, only the item is owned. */
function* ofItems(list: ListType, items: List, work: Work): SetSteps {
  if (list.isAtomic) return noFields
  const elements = knownElementsOf(list, items)
  const repeated = repeatedIn(elements)
  const set = new SetBuilder()
  for (const [i, element] of elements.entries()) {
    const isWhole = repeated.has(element) || !isContainer(items[i])
    set.add(element, true, isWhole ? noFields : yield* fieldSetSteps(list.item, items[i], work))
    if (work.isStepDone()) yield
  }
  return set.build()
}

function repeatedIn(elements: readonly PathElement[]): ReadonlySet<PathElement> {
  const seen = new Set<PathElement>()
  const repeated = new Set<PathElement>()
  for (const element of elements) {
    if (seen.has(element)) repeated.add(element)
    seen.add(element)
  }
  return repeated
}

/**
 * The set with the declared fields above its paths: `a` for `a.b.c`, but neither map keys nor list items
 * (`fieldpath.Set.EnsureNamedFieldsAreMembers`; rules.md 5.41). In steps.
 */
export function* namedFieldSteps(set: FieldSet, type: MergeType | undefined, work: Work): SetSteps {
  if (set.children.size === 0) return set
  const members = new Set(set.members)
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of set.children) {
    if (isDeclared(type, element)) members.add(element)
    children.set(element, yield* namedFieldSteps(child, typeBelow(type, element), work))
    if (work.isStepDone()) yield
  }
  return { members, children }
}

function isDeclared(type: MergeType | undefined, element: PathElement): boolean {
  const name = fieldOf(element)
  return name !== undefined && type?.map?.declares(name) === true
}

/** The type of an element; undefined if the schema does not declare it. */
export function typeBelow(type: MergeType | undefined, element: PathElement): MergeType | undefined {
  const name = fieldOf(element)
  if (name !== undefined && type?.map) return type.map.member(name)
  return isKey(element) ? type?.list?.item : undefined
}

/** The printed paths of all atomic fields of a configuration, such as `.spec.args`. */
export const atomicPaths = (type: MergeType, value: unknown): readonly string[] =>
  atomicsBelow(type, value, '')

function atomicsBelow(type: MergeType, value: unknown, path: string): readonly string[] {
  const at = (element: PathElement): string => path + printElement(element)
  if (isMembers(value) && type.map !== undefined) {
    const { map } = type
    const below = Object.entries(value).flatMap(([key, member]) => {
      const known = map.declares(key) ? map.member(key) : undefined
      return known === undefined ? [] : atomicsBelow(known, member, at(fieldElement(key)))
    })
    return map.isAtomic ? [path, ...below] : below
  }
  if (!isList(value) || type.list === undefined) return []
  const { list } = type
  const below = value.flatMap((item, i) => atomicsBelow(list.item, item, at(`i:${i}`)))
  return list.isAtomic ? [path, ...below] : below
}
