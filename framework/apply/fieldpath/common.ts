import { atOnce, Work } from '../../json/json.ts'
import { type FieldPath, orderSteps, type PathElement } from './fieldpath.ts'
import {
  below,
  commonKeys,
  type FieldSet,
  noFields,
  SetBuilder,
  type SetSteps,
  withChildren,
  withParts,
} from './fieldset.ts'

export const intersection = (a: FieldSet, b: FieldSet): FieldSet =>
  atOnce(intersectionSteps(a, b, new Work()))

/** What `intersection` returns, in steps. */
export function* intersectionSteps(a: FieldSet, b: FieldSet, work: Work): SetSteps {
  if (a === b) return a
  const set = new SetBuilder()
  for (const element of yield* commonKeys(a.members, b.members, work)) set.add(element, true, noFields)
  for (const element of yield* commonKeys(a.children, b.children, work))
    set.add(element, false, yield* intersectionSteps(below(a, element), below(b, element), work))
  return set.build()
}

/** The same set, with the parts that it has in common with `other` shared. */
export const sharing = (set: FieldSet, other: FieldSet): FieldSet =>
  atOnce(sharingSteps(set, other, new Work()))

/** What `sharing` returns, in steps. */
export function* sharingSteps(set: FieldSet, other: FieldSet, work: Work): SetSteps {
  if (set === other) return set
  const changed = new Map<PathElement, FieldSet>()
  for (const element of yield* commonKeys(set.children, other.children, work)) {
    const child = below(set, element)
    const shared = yield* sharingSteps(child, below(other, element), work)
    if (shared !== child) changed.set(element, shared)
    if (work.isStepDone()) yield
  }
  const children = yield* withChildren(set.children, changed, work)
  const isSame =
    (yield* sameMembers(set.members, other.members, work)) &&
    (yield* sameChildren(children, other.children, work))
  return isSame ? other : withParts(set, set.members, children)
}

function* sameMembers(a: FieldSet['members'], b: FieldSet['members'], work: Work): Generator<void, boolean> {
  if (a.size !== b.size) return false
  for (const element of a) {
    if (!b.has(element)) return false
    if (work.isStepDone()) yield
  }
  return true
}

function* sameChildren(
  a: FieldSet['children'],
  b: FieldSet['children'],
  work: Work,
): Generator<void, boolean> {
  if (a.size !== b.size) return false
  for (const [element, child] of a) {
    if (b.get(element) !== child) return false
    if (work.isStepDone()) yield
  }
  return true
}

export const equalSets = (a: FieldSet, b: FieldSet): boolean => sharing(a, b) === b

/** All paths in order: members first, then the paths below. */
export function pathsOf(set: FieldSet): readonly FieldPath[] {
  const paths: FieldPath[] = []
  atOnce(pathSteps(set, new Work(), path => paths.push(path) > 0))
  return paths
}

/** Visits the paths of `pathsOf` in steps, until `visit` returns false. Returns whether all were visited. */
export function* pathSteps(
  set: FieldSet,
  work: Work,
  visit: (path: FieldPath) => boolean,
  prefix: FieldPath = [],
): Generator<void, boolean> {
  for (const element of yield* orderSteps(set.members)) {
    if (!visit([...prefix, element])) return false
    if (work.isStepDone()) yield
  }
  for (const element of yield* orderSteps(set.children.keys()))
    if (!(yield* pathSteps(below(set, element), work, visit, [...prefix, element]))) return false
  return true
}
