import { atOnce, compareTexts, sortedSteps, Work } from '../../json/json.ts'
import { keepKeys } from '../../json/values.ts'
import { type FieldPath, fieldElement, type PathElement } from './fieldpath.ts'

/**
 * A set of paths as a trie: the elements that are members, and the sets below elements (`fieldpath.Set`; rules.md
 * 5.38). An element can be both. Sets are immutable, and operations return their operand if nothing changes: equal
 * parts are often shared, and what is cached for a part stays valid.
 */
export interface FieldSet {
  readonly members: ReadonlySet<PathElement>
  /** No child is empty. */
  readonly children: ReadonlyMap<PathElement, FieldSet>
  /** What encodes the set, once that is known: sets share parts, and a decoded set is encoded as it was. */
  text?: FieldsV1 | undefined
  /** The same with `.`, for an element that is a member, too. */
  textWithItself?: FieldsV1 | undefined
}

type Members = FieldSet['members']
type Children = FieldSet['children']

/** The computation of a set in steps. */
export type SetSteps = Generator<void, FieldSet>

const noMembers: Members = new Set()
const noChildren: Children = new Map()

/** All sets have the same properties, which V8 reads faster. */
export const newSet = (members: Members, children: Children): FieldSet => ({
  members,
  children,
  text: undefined,
  textWithItself: undefined,
})

export const noFields: FieldSet = newSet(noMembers, noChildren)

export const isEmpty = ({ members, children }: FieldSet): boolean => members.size === 0 && children.size === 0

/** Builds a set from its members and children. */
export class SetBuilder {
  #members: Set<PathElement> | undefined
  #children: Map<PathElement, FieldSet> | undefined

  add(element: PathElement, isMember: boolean, below: FieldSet): void {
    if (isMember) {
      this.#members ??= new Set()
      this.#members.add(element)
    }
    if (isEmpty(below)) return
    this.#children ??= new Map()
    this.#children.set(element, below)
  }

  build(): FieldSet {
    if (this.#members === undefined && this.#children === undefined) return noFields
    return newSet(this.#members ?? noMembers, this.#children ?? noChildren)
  }
}

/** The set of one path. The empty path is never in a set. */
function setOfPath(path: FieldPath): FieldSet {
  const leaf = path.length - 1
  return path.reduceRight((below, element, i) => {
    const set = new SetBuilder()
    set.add(element, i === leaf, below)
    return set.build()
  }, noFields)
}

export const setOf = (paths: Iterable<FieldPath>): FieldSet =>
  atOnce(unionOf([...paths].map(setOfPath), new Work()))

/** The set of paths of field names. */
export const setOfFields = (...paths: readonly (readonly string[])[]): FieldSet =>
  setOf(paths.map(path => path.map(fieldElement)))

export const below = (set: FieldSet, element: PathElement): FieldSet => set.children.get(element) ?? noFields

/** `set` with other parts; the same set if the parts are its own. */
export function withParts(set: FieldSet, members: Members, children: Children): FieldSet {
  return members === set.members && children === set.children ? set : newSet(members, children)
}

/** The children with some of them replaced; empty ones are dropped. */
export function* withChildren(
  children: Children,
  changed: ReadonlyMap<PathElement, FieldSet>,
  work: Work,
): Generator<void, Children> {
  if (changed.size === 0) return children
  const all = new Map<PathElement, FieldSet>()
  for (const [element, child] of children) {
    const next = changed.get(element) ?? child
    if (!isEmpty(next)) all.set(element, next)
    if (work.isStepDone()) yield
  }
  for (const [element, child] of changed) {
    if (!children.has(element)) all.set(element, child)
    if (work.isStepDone()) yield
  }
  return all
}

interface Keys<T> {
  readonly size: number
  has(key: T): boolean
  keys(): Iterable<T>
}

/** The keys of both collections. The cost depends on the smaller one. */
export function* commonKeys<T>(a: Keys<T>, b: Keys<T>, work: Work): Generator<void, readonly T[]> {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  const both: T[] = []
  for (const key of few.keys()) {
    if (many.has(key)) both.push(key)
    if (work.isStepDone()) yield
  }
  return both
}

export const union = (a: FieldSet, b: FieldSet): FieldSet => atOnce(unionSteps(a, b, new Work()))

/** What `union` returns, in steps. */
export function* unionSteps(a: FieldSet, b: FieldSet, work: Work): SetSteps {
  if (a === b || isEmpty(b)) return a
  if (isEmpty(a)) return b
  const changed = new Map<PathElement, FieldSet>()
  for (const [element, child] of b.children) {
    const known = a.children.get(element)
    const both = known === undefined ? child : yield* unionSteps(known, child, work)
    if (both !== known) changed.set(element, both)
    if (work.isStepDone()) yield
  }
  const members = yield* allMembers(a.members, b.members, work)
  return withParts(a, members, yield* withChildren(a.children, changed, work))
}

function* allMembers(a: Members, b: Members, work: Work): Generator<void, Members> {
  let all: Set<PathElement> | undefined
  for (const element of b) {
    if (!a.has(element)) {
      all ??= new Set(a)
      all.add(element)
    }
    if (work.isStepDone()) yield
  }
  return all ?? a
}

/** The union of many sets: pairs of them, then pairs of the results, because each union copies its larger part. */
export function* unionOf(sets: readonly FieldSet[], work: Work): SetSteps {
  const [only = noFields, ...others] = sets
  if (others.length === 0) return only
  const middle = sets.length >>> 1
  const first = yield* unionOf(sets.slice(0, middle), work)
  return yield* unionSteps(first, yield* unionOf(sets.slice(middle), work), work)
}

function* without(members: Members, gone: Members, work: Work): Generator<void, Members> {
  const both = yield* commonKeys(members, gone, work)
  if (both.length === 0) return members
  const left = new Set(members)
  for (const element of both) {
    left.delete(element)
    if (work.isStepDone()) yield
  }
  return left
}

/** The paths of `a` that are not in `b`; a member of `b` does not remove the paths below it (rules.md 5.39). */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => atOnce(differenceSteps(a, b, new Work()))

/** What `difference` returns, in steps. */
export function* differenceSteps(a: FieldSet, b: FieldSet, work: Work): SetSteps {
  if (a === b) return noFields
  if (isEmpty(a) || isEmpty(b)) return a
  const changed = new Map<PathElement, FieldSet>()
  for (const element of yield* commonKeys(a.children, b.children, work)) {
    const child = below(a, element)
    const left = yield* differenceSteps(child, below(b, element), work)
    if (left !== child) changed.set(element, left)
    if (work.isStepDone()) yield
  }
  const members = yield* without(a.members, b.members, work)
  return withParts(a, members, yield* withChildren(a.children, changed, work))
}

/** Like `difference`; a member of `b` also removes the paths below it. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet =>
  atOnce(recursiveDifferenceSteps(a, b, new Work()))

function* recursiveDifferenceSteps(a: FieldSet, b: FieldSet, work: Work): SetSteps {
  if (isEmpty(a) || isEmpty(b)) return a
  const changed = new Map<PathElement, FieldSet>()
  for (const element of yield* commonKeys(a.children, b.members, work)) changed.set(element, noFields)
  for (const element of yield* commonKeys(a.children, b.children, work)) {
    const child = below(a, element)
    const left = yield* recursiveDifferenceSteps(child, below(b, element), work)
    if (left !== child && !changed.has(element)) changed.set(element, left)
  }
  const members = yield* without(a.members, b.members, work)
  return withParts(a, members, yield* withChildren(a.children, changed, work))
}

export function has(set: FieldSet, path: FieldPath): boolean {
  const last = path.at(-1)
  if (last === undefined) return false
  return path.slice(0, -1).reduce(below, set).members.has(last)
}

/** The number of paths in a set. */
export const sizeOf = ({ members, children }: FieldSet): number =>
  [...children.values()].reduce((size, child) => size + sizeOf(child), members.size)

/** `metav1.FieldsV1`: a field set as a tree of objects; `.` is the element itself (rules.md 5.21, 5.22). */
export type FieldsV1 = { readonly [element: string]: FieldsV1 }

/** The key of the element itself. */
export const itself = '.'
const nothing: FieldsV1 = {}

/** Large sets that were decoded or encoded, by the object that contains them. */
const sets = new WeakMap<object, FieldSet>()

/** Paths: a smaller set is decoded in less time than V8 needs for an entry of a WeakMap. */
const few = 64

/** The set that an object of `fieldsV1` encodes, if that is known. */
export const setOfText = (text: object): FieldSet | undefined => sets.get(text)

export function rememberSet(text: object, set: FieldSet): void {
  if (leftOf(set, few) < 0) sets.set(text, set)
}

/** How many of `left` paths are left after those of `set`; negative if there are more. */
function leftOf({ members, children }: FieldSet, left: number): number {
  let rest = left - members.size
  for (const child of children.values()) {
    if (rest < 0) break
    rest = leftOf(child, rest)
  }
  return rest
}

/** Encodes a set. Keys are in the order of their bytes. */
export const formatFields = (set: FieldSet): FieldsV1 => atOnce(formatSteps(set, new Work()))

/** What `formatFields` returns, in steps. */
export function* formatSteps(set: FieldSet, work: Work): Generator<void, FieldsV1> {
  const fields = yield* format(set, work)
  rememberSet(fields, set)
  return fields
}

function* format(set: FieldSet, work: Work): Generator<void, FieldsV1> {
  set.text ??= yield* textFrom([], set, work)
  return set.text
}

function* formatWithItself(set: FieldSet, work: Work): Generator<void, FieldsV1> {
  set.textWithItself ??= yield* textFrom([itself], set, work)
  return set.textWithItself
}

/** `first`: elements before those of the set. */
function* textFrom(first: readonly string[], set: FieldSet, work: Work): Generator<void, FieldsV1> {
  const fields: Record<PathElement, FieldsV1> = {}
  for (const element of first) fields[element] = nothing
  const elements = yield* sortedSteps(elementsOf(set), compareTexts)
  for (const element of elements) {
    const child = set.children.get(element)
    if (child === undefined) fields[element] = nothing
    else if (set.members.has(element)) fields[element] = yield* formatWithItself(child, work)
    else fields[element] = yield* format(child, work)
    if (work.isStepDone()) yield
  }
  if (elements.length > few) keepKeys(fields, [...first, ...elements])
  return fields
}

function elementsOf({ members, children }: FieldSet): PathElement[] {
  const elements = [...members]
  for (const element of children.keys()) if (!members.has(element)) elements.push(element)
  return elements
}
