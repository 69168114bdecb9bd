import {
  type FieldPath,
  fieldElement,
  inOrder,
  isMembers,
  type Members as JsonMembers,
  type PathElement,
  parseElement,
} from './fieldpath.ts'
import { Leaves } from './leaves.ts'

/**
 * A set of paths as a trie: the elements that are members, and the sets below elements (`fieldpath.Set`; rules.md
 * 5.38). An element can be both. Sets are immutable, and operations return their operand if nothing changes: equal
 * parts are often shared, and what is cached for a part stays valid.
 */
export interface FieldSet {
  readonly members: ReadonlySet<PathElement>
  /** No child is empty. */
  readonly children: ReadonlyMap<PathElement, FieldSet>
}

type Members = FieldSet['members']
type Children = FieldSet['children']

const noMembers: Members = new Set()
const noChildren: Children = new Map()

export const noFields: FieldSet = { members: noMembers, children: noChildren }

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
    return { members: this.#members ?? noMembers, children: this.#children ?? noChildren }
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

export const setOf = (paths: Iterable<FieldPath>): FieldSet => unionOf([...paths].map(setOfPath))

/** The set of paths of field names. */
export const setOfFields = (...paths: readonly (readonly string[])[]): FieldSet =>
  setOf(paths.map(path => path.map(fieldElement)))

export const below = (set: FieldSet, element: PathElement): FieldSet => set.children.get(element) ?? noFields

/** `set` with other parts; the same set if the parts are its own. */
function withParts(set: FieldSet, members: Members, children: Children): FieldSet {
  return members === set.members && children === set.children ? set : { members, children }
}

/** The children with some of them replaced; empty ones are dropped. */
function withChildren(children: Children, changed: ReadonlyMap<PathElement, FieldSet>): Children {
  if (changed.size === 0) return children
  const all = new Map(children)
  for (const [element, child] of changed) {
    if (isEmpty(child)) all.delete(element)
    else all.set(element, child)
  }
  return all
}

/** The keys of both collections. The cost depends on the smaller one. */
function* common<T>(
  a: { readonly size: number; has(key: T): boolean; keys(): Iterable<T> },
  b: { readonly size: number; has(key: T): boolean; keys(): Iterable<T> },
): Generator<T> {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  for (const key of few.keys()) if (many.has(key)) yield key
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a
  if (isEmpty(a)) return b
  const added = [...b.members].filter(element => !a.members.has(element))
  const changed = new Map<PathElement, FieldSet>()
  for (const [element, child] of b.children) {
    const known = a.children.get(element)
    const both = known === undefined ? child : union(known, child)
    if (both !== known) changed.set(element, both)
  }
  const members = added.length === 0 ? a.members : new Set([...a.members, ...added])
  return withParts(a, members, withChildren(a.children, changed))
}

/** The union of many sets: pairs of them, then pairs of the results, because each union copies its larger part. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [only = noFields, ...others] = sets
  if (others.length === 0) return only
  const middle = sets.length >>> 1
  return union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle)))
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  const set = new SetBuilder()
  for (const element of common(a.members, b.members)) set.add(element, true, noFields)
  for (const element of common(a.children, b.children))
    set.add(element, false, intersection(below(a, element), below(b, element)))
  return set.build()
}

function without(members: Members, gone: Members): Members {
  let left: Set<PathElement> | undefined
  for (const element of common(members, gone)) {
    left ??= new Set(members)
    left.delete(element)
  }
  return left ?? members
}

/** The paths of `a` that are not in `b`; a member of `b` does not remove the paths below it (rules.md 5.39). */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return noFields
  const changed = new Map<PathElement, FieldSet>()
  for (const element of common(a.children, b.children)) {
    const child = below(a, element)
    const left = difference(child, below(b, element))
    if (left !== child) changed.set(element, left)
  }
  return withParts(a, without(a.members, b.members), withChildren(a.children, changed))
}

/** Like `difference`; a member of `b` also removes the paths below it. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  const changed = new Map<PathElement, FieldSet>()
  for (const element of common(a.children, b.members)) changed.set(element, noFields)
  for (const element of common(a.children, b.children)) {
    const child = below(a, element)
    const left = recursiveDifference(child, below(b, element))
    if (left !== child && !changed.has(element)) changed.set(element, left)
  }
  return withParts(a, without(a.members, b.members), withChildren(a.children, changed))
}

/** The same set, with the parts that it has in common with `other` shared. */
export function sharing(set: FieldSet, other: FieldSet): FieldSet {
  if (set === other) return set
  const changed = new Map<PathElement, FieldSet>()
  for (const element of common(set.children, other.children)) {
    const child = below(set, element)
    const shared = sharing(child, below(other, element))
    if (shared !== child) changed.set(element, shared)
  }
  const children = withChildren(set.children, changed)
  const isSame = sameMembers(set.members, other.members) && sameChildren(children, other.children)
  return isSame ? other : withParts(set, set.members, children)
}

function sameMembers(a: Members, b: Members): boolean {
  if (a.size !== b.size) return false
  for (const element of a) if (!b.has(element)) return false
  return true
}

function sameChildren(a: Children, b: Children): boolean {
  if (a.size !== b.size) return false
  for (const [element, child] of a) if (b.get(element) !== child) return false
  return true
}

export function has(set: FieldSet, path: FieldPath): boolean {
  const last = path.at(-1)
  if (last === undefined) return false
  return path.slice(0, -1).reduce(below, set).members.has(last)
}

export const equalSets = (a: FieldSet, b: FieldSet): boolean => sharing(a, b) === b

/** The number of paths in a set. */
export const sizeOf = ({ members, children }: FieldSet): number =>
  [...children.values()].reduce((size, child) => size + sizeOf(child), members.size)

/** All paths in order: members first, then the paths below. */
export function* pathsOf(set: FieldSet, prefix: FieldPath = []): Generator<FieldPath> {
  for (const element of inOrder(set.members)) yield [...prefix, element]
  for (const element of inOrder(set.children.keys()))
    yield* pathsOf(below(set, element), [...prefix, element])
}

/** `metav1.FieldsV1`: a field set as a tree of objects; `.` is the element itself (rules.md 5.21, 5.22). */
export type FieldsV1 = { readonly [element: string]: FieldsV1 }

const itself = '.'
const nothing: FieldsV1 = {}

/** Encoded sets, without `.`: sets share parts, and a decoded set is encoded as it was. */
const texts = new WeakMap<FieldSet, FieldsV1>()

/** Encodes a set. Keys are in the order of their bytes. */
export function formatFields(set: FieldSet): FieldsV1 {
  const fields = formatNode(set)
  sets.set(fields, set)
  return fields
}

function formatNode(set: FieldSet): FieldsV1 {
  const known = texts.get(set)
  if (known !== undefined) return known
  const fields = format(set)
  texts.set(set, fields)
  return fields
}

function format({ members, children }: FieldSet): FieldsV1 {
  const fields: Record<PathElement, FieldsV1> = {}
  const above = [...children.keys()].filter(element => !members.has(element))
  for (const element of [...members, ...above].sort()) {
    const child = children.get(element)
    const below = child === undefined ? nothing : formatNode(child)
    fields[element] = child !== undefined && members.has(element) ? { [itself]: nothing, ...below } : below
  }
  return fields
}

interface Node {
  readonly set: FieldSet
  readonly isMember: boolean
  /** All elements are canonical. */
  readonly isCanonical: boolean
}

/** Sets that were decoded or encoded, by the object that contains them. */
const sets = new WeakMap<object, FieldSet>()

/** Throws `SyntaxError` for invalid `fieldsV1`; unknown kinds of elements are ignored. */
export function parseFields(value: unknown): FieldSet {
  const known = isMembers(value) ? sets.get(value) : undefined
  if (known !== undefined) return known
  const { set } = parseNode(value)
  if (isMembers(value)) sets.set(value, set)
  return set
}

const leaves = new Leaves<Node>()

function parseNode(value: unknown): Node {
  if (!isMembers(value)) throw new SyntaxError('fieldsV1 is made of objects')
  return leaves.of(value, () => parseMembers(value)) ?? parseMembers(value)
}

function parseMembers(value: JsonMembers): Node {
  const isOwned = Object.hasOwn(value, itself)
  const builder = new SetBuilder()
  let isCanonical = true
  for (const key of Object.keys(value)) {
    if (key === itself) continue
    const element = parseElement(key)
    if (element !== key) isCanonical = false
    if (element === undefined) continue
    const child = parseNode(value[key])
    if (!child.isCanonical) isCanonical = false
    builder.add(element, child.isMember, child.set)
  }
  const set = builder.build()
  if (isCanonical && set !== noFields)
    texts.set(set, isOwned ? withoutKey(value, itself) : (value as FieldsV1))
  return { set, isMember: isOwned || set === noFields, isCanonical }
}

function withoutKey(value: JsonMembers, key: string): FieldsV1 {
  const { [key]: _, ...rest } = value
  return rest as FieldsV1
}
