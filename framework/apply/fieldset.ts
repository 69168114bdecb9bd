import { compareElements, type Element, fieldElement, type Path } from './fieldpath.ts'

/**
 * A set of paths into an object, as a trie: which elements are in it, and what is below them. An element may be both, or
 * have only something below it (chapter 40, rule 5.38).
 */
export interface FieldSet {
  readonly members: ReadonlySet<Element>
  readonly children: ReadonlyMap<Element, FieldSet>
}

/** A set while it is being made. */
export interface FieldSetBuilder extends FieldSet {
  readonly members: Set<Element>
  readonly children: Map<Element, FieldSetBuilder>
}

export const newFieldSet = (): FieldSetBuilder => ({ members: new Set(), children: new Map() })

export const noFields: FieldSet = newFieldSet()

/** The whole object, the empty path, is never in a set. */
export function insert(set: FieldSetBuilder, path: Path): void {
  let at = set
  const last = path.at(-1)
  if (last === undefined) return
  for (const element of path.slice(0, -1)) {
    const child = at.children.get(element) ?? newFieldSet()
    at.children.set(element, child)
    at = child
  }
  at.members.add(last)
}

/** The set of these paths, each a list of field names. */
export function setOfFields(...paths: readonly (readonly string[])[]): FieldSet {
  const set = newFieldSet()
  for (const path of paths) insert(set, path.map(fieldElement))
  return set
}

export const isEmpty = ({ members, children }: FieldSet): boolean =>
  members.size === 0 && [...children.values()].every(isEmpty)

export const below = (set: FieldSet, element: Element): FieldSet => set.children.get(element) ?? noFields

/** A set from members and children; children without anything in them are left out. */
function setFrom(members: Iterable<Element>, children: Iterable<readonly [Element, FieldSet]>): FieldSet {
  return {
    members: new Set(members),
    children: new Map([...children].filter(([, child]) => !isEmpty(child))),
  }
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map(a.children)
  for (const [element, child] of b.children) {
    const other = children.get(element)
    children.set(element, other === undefined ? child : union(other, child))
  }
  return { members: new Set([...a.members, ...b.members]), children }
}

export const intersection = (a: FieldSet, b: FieldSet): FieldSet =>
  setFrom(
    [...a.members].filter(element => b.members.has(element)),
    [...a.children].map(([element, child]) => [element, intersection(child, below(b, element))]),
  )

/**
 * What is in `a` and not in `b`; a parent does not stand for its children (chapter 40, rule 5.39). `a` itself when nothing
 * is removed.
 */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  const members = [...a.members].filter(element => !b.members.has(element))
  let isSame = members.length === a.members.size
  const children = [...a.children].map(([element, child]): readonly [Element, FieldSet] => {
    const removed = b.children.get(element)
    const left = removed === undefined ? child : difference(child, removed)
    if (left !== child) isSame = false
    return [element, left]
  })
  return isSame ? a : setFrom(members, children)
}

/** Like `difference`, and what is below a member of `b` goes too. */
export const recursiveDifference = (a: FieldSet, b: FieldSet): FieldSet =>
  setFrom(
    [...a.members].filter(element => !b.members.has(element)),
    [...a.children]
      .filter(([element]) => !b.members.has(element))
      .map(([element, child]) => [element, recursiveDifference(child, below(b, element))]),
  )

export function has(set: FieldSet, path: Path): boolean {
  const last = path.at(-1)
  if (last === undefined) return false
  return path.slice(0, -1).reduce(below, set).members.has(last)
}

export const equalSets = (a: FieldSet, b: FieldSet): boolean =>
  isEmpty(difference(a, b)) && isEmpty(difference(b, a))

const inOrder = (elements: Iterable<Element>): readonly Element[] => [...elements].sort(compareElements)

/** All paths: members first, then what is below, in the order of the elements. */
export function* pathsOf(set: FieldSet, prefix: Path = []): Generator<Path> {
  for (const element of inOrder(set.members)) yield [...prefix, element]
  for (const element of inOrder(set.children.keys()))
    yield* pathsOf(below(set, element), [...prefix, element])
}
