import { type FieldPath, fieldElement, inOrder, type PathElement } from './fieldpath.ts'

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

export const setOf = (paths: Iterable<FieldPath>): FieldSet =>
  [...paths].map(setOfPath).reduce(union, noFields)

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
