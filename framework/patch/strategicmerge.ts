import { isScalar, membersFrom } from '../apply/fieldpath/fieldpath.ts'
import { goText } from '../json/gotext.ts'
import { atOnce, Work } from '../json/json.ts'
import { isMembers } from '../json/values.ts'
import { badRequest } from '../meta/errors.ts'
import { itemSchema, type MergeSchema, memberSchema, mergeKeyOf, strategyOf } from '../meta/mergeschema.ts'
import { jsonType } from '../wire/metadata.ts'
import { mapOf } from './mergepatch.ts'
import {
  badArgument,
  deleteScalars,
  type ListMerging,
  mergeFailed,
  mergeList,
  orderedList,
} from './strategicmergelist.ts'

type Members = Readonly<Record<string, unknown>>

const directive = '$patch'
const retainKeys = '$retainKeys'
const deleteFromList = '$deleteFromPrimitiveList'
const setOrder = '$setElementOrder'

/** null is an empty patch. Throws 400 if the patch is not an object. */
export function readStrategicMergePatch(value: unknown): Members {
  if (value === null) return {}
  if (isMembers(value)) return value
  throw badRequest(`json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`)
}

/**
 * Applies a strategic merge patch (`apimachinery/pkg/util/strategicpatch`; rules.md 5.12 to 5.17): like a merge patch,
 * but lists with the patch strategy `merge` are merged by key, and directives delete, replace and order. Changes no
 * argument. Throws 400, 422 and 500.
 */
export const applyStrategicMergePatch = (document: Members, patch: Members, schema: MergeSchema): Members =>
  atOnce(applyStrategicMergePatchSteps(document, patch, schema, new Work()))

/** What `applyStrategicMergePatch` returns, in steps. */
export function* applyStrategicMergePatchSteps(
  document: Members,
  patch: Members,
  schema: MergeSchema,
  work: Work,
): Generator<void, Members> {
  if (Object.hasOwn(patch, directive)) return directed(patch)
  const members = yield* mapOf(document, work)
  const changes = Object.hasOwn(patch, retainKeys) ? retained(members, patch) : patch
  const target: Target = { members, schema, work }
  const names = Object.keys(changes)
  if (names.some(isParallel)) yield* mergeParallel(target, yield* mapOf(changes, work))
  else
    for (const name of names) {
      yield* mergeMember(target, [name, changes[name]])
      if (work.isStepDone()) yield
    }
  return yield* membersFrom(members, work)
}

/** The object that is changed. */
interface Target {
  readonly members: Map<string, unknown>
  readonly schema: MergeSchema
  readonly work: Work
}

type Change = readonly [name: string, value: unknown]

/** Merges changes of which some are about other members: orders and deletions of lists. */
function* mergeParallel(target: Target, changes: Map<string, unknown>): Generator<void> {
  for (const key of [...changes.keys()]) if (key.startsWith(setOrder)) yield* order(target, changes, key)
  // Deletions come first: a value that a patch both deletes and adds is kept.
  const isDeletion = ([key]: Change): boolean => key.startsWith(deleteFromList)
  for (const change of changes) if (isDeletion(change)) yield* mergeMember(target, change)
  for (const change of changes) {
    if (!isDeletion(change)) yield* mergeMember(target, change)
    if (target.work.isStepDone()) yield
  }
}

/** `$patch` in an object: replaces or empties the object. */
function directed(patch: Members): Members {
  const { [directive]: what, ...rest } = patch
  if (what === 'replace') return rest
  if (what === 'delete') return {}
  throw mergeFailed(`unknown patch type: ${goText(what)} in map: ${goText(patch)}`)
}

const isParallel = (key: string): boolean => key.startsWith(deleteFromList) || key.startsWith(setOrder)

/** `$retainKeys`: drops the members that the patch does not name. Returns the other changes. */
function retained(members: Map<string, unknown>, { [retainKeys]: names, ...changes }: Members): Members {
  const refuse = () => badRequest('invalid patch format of retainKeys')
  if (!Array.isArray(names)) throw refuse()
  const kept = new Set<unknown>(names)
  for (const [key, value] of Object.entries(changes)) {
    if (value !== null && !isParallel(key) && !kept.has(key)) throw refuse()
  }
  for (const key of [...members.keys()]) if (!kept.has(key)) members.delete(key)
  return changes
}

/** The list that a directive is about: `$setElementOrder/ports`. */
function fieldOf(key: string, prefix: string, what: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(`invalid patch format of ${what}`)
  return key.slice(prefix.length + 1)
}

const listIn = (members: Map<string, unknown>, field: string): readonly unknown[] | undefined => {
  const value = members.get(field)
  if (value === undefined || Array.isArray(value)) return value
  throw badArgument([], value)
}

/** Merges and orders one list, and removes it from the remaining changes. */
function* order(
  { members, schema, work }: Target,
  changes: Map<string, unknown>,
  key: string,
): Generator<void> {
  const wanted = changes.get(key)
  changes.delete(key)
  if (!Array.isArray(wanted)) throw badArgument([], wanted)
  const field = fieldOf(key, setOrder, 'setElementOrder list')
  const [live, change] = [listIn(members, field), listIn(changes, field)]
  if (live === undefined && change === undefined) return
  const own = memberSchema(schema, field)
  const merging = { ...mergingOf(own, work), isMerged: strategyOf(own) === 'merge', plain: withoutDirectives }
  members.set(field, yield* orderedList({ live, change, wanted }, merging))
  changes.delete(field)
}

const mergingOf = (schema: MergeSchema, work: Work): ListMerging => ({
  mergeKey: mergeKeyOf(schema),
  mergeItem: (live, change) => applyStrategicMergePatchSteps(live, change, itemSchema(schema), work),
  work,
})

function* mergeMember({ members, schema, work }: Target, [name, change]: Change): Generator<void> {
  const isDeletion = name.startsWith(deleteFromList)
  const key = isDeletion ? fieldOf(name, deleteFromList, 'primitive list') : name
  if (change === null) return void members.delete(key)
  const live = members.get(key)
  const own = memberSchema(schema, key)
  if (isMembers(live) && isMembers(change)) {
    const isReplaced = strategyOf(own) === 'replace'
    members.set(key, isReplaced ? change : yield* applyStrategicMergePatchSteps(live, change, own, work))
  } else if (Array.isArray(live) && Array.isArray(change)) {
    if (isDeletion) members.set(key, yield* deleteScalars(live, change, work))
    else if (strategyOf(own) !== 'merge') members.set(key, change)
    else members.set(key, yield* mergeList(live, change, mergingOf(own, work)))
  } else if (!isDeletion) {
    set(members, key, yield* withoutDirectives(yield* withoutNulls(change, work), work))
  }
}

function set(members: Map<string, unknown>, key: string, value: unknown): void {
  if (value === undefined) members.delete(key)
  else members.set(key, value)
}

/** Nulls in new values delete nothing. */
function* withoutNulls(value: unknown, work: Work): Generator<void, unknown> {
  if (Array.isArray(value)) return yield* mapped(value, withoutNulls, work)
  if (!isMembers(value)) return value
  const members = new Map<string, unknown>()
  for (const key in value) {
    const member = value[key]
    if (member !== null) members.set(key, isScalar(member) ? member : yield* withoutNulls(member, work))
    if (work.isStepDone()) yield
  }
  return yield* membersFrom(members, work)
}

/** A new value without its directives; undefined if it is one itself. */
function* withoutDirectives(value: unknown, work: Work): Generator<void, unknown> {
  if (Array.isArray(value)) return yield* mapped(value, withoutDirectives, work)
  if (!isMembers(value)) return value
  if (Object.hasOwn(value, directive)) return undefined
  const members = new Map<string, unknown>()
  for (const key in value) {
    const member = isScalar(value[key]) ? value[key] : yield* withoutDirectives(value[key], work)
    if (member !== undefined) members.set(key, member)
    if (work.isStepDone()) yield
  }
  return yield* membersFrom(members, work)
}

type Changing = (item: unknown, work: Work) => Generator<void, unknown>

/** The changed items, without those that are undefined then. */
function* mapped(
  items: readonly unknown[],
  change: Changing,
  work: Work,
): Generator<void, readonly unknown[]> {
  const changed: unknown[] = []
  for (const item of items) {
    const result = isScalar(item) ? item : yield* change(item, work)
    if (result !== undefined) changed.push(result)
    if (work.isStepDone()) yield
  }
  return changed
}
