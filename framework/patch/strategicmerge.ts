import { goText } from '../json/gotext.ts'
import { isMembers } from '../json/values.ts'
import { badRequest } from '../meta/errors.ts'
import { itemSchema, type MergeSchema, memberSchema, mergeKeyOf, strategyOf } from '../meta/mergeschema.ts'
import { jsonType } from '../wire/metadata.ts'
import { mapOf } from './mergepatch.ts'
import { badArgument, deleteScalars, mergeFailed, mergeList, orderedList } from './strategicmergelist.ts'

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
export function applyStrategicMergePatch(document: Members, patch: Members, schema: MergeSchema): Members {
  if (Object.hasOwn(patch, directive)) return directed(patch)
  const members = mapOf(document)
  const changes = Object.hasOwn(patch, retainKeys) ? retained(members, patch) : patch
  const names = Object.keys(changes)
  const merge = (change: Change): void => mergeMember(members, schema, change)
  if (names.some(isParallel)) mergeParallel({ members, changes: mapOf(changes), schema }, merge)
  else for (const name of names) merge([name, changes[name]])
  return Object.fromEntries(members)
}

type Change = readonly [name: string, value: unknown]

/** Merges changes of which some are about other members: orders and deletions of lists. */
function mergeParallel(ordering: Ordering, merge: (change: Change) => void): void {
  const { changes } = ordering
  for (const key of [...changes.keys()]) if (key.startsWith(setOrder)) order(ordering, key)
  // Deletions come first: a value that a patch both deletes and adds is kept.
  const isDeletion = ([key]: Change): boolean => key.startsWith(deleteFromList)
  for (const change of changes) if (isDeletion(change)) merge(change)
  for (const change of changes) if (!isDeletion(change)) merge(change)
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

interface Ordering {
  readonly members: Map<string, unknown>
  readonly changes: Map<string, unknown>
  readonly schema: MergeSchema
}

const listIn = (members: Map<string, unknown>, field: string): readonly unknown[] | undefined => {
  const value = members.get(field)
  if (value === undefined || Array.isArray(value)) return value
  throw badArgument([], value)
}

/** Merges and orders one list, and removes it from the remaining changes. */
function order({ members, changes, schema }: Ordering, key: string): void {
  const wanted = changes.get(key)
  changes.delete(key)
  if (!Array.isArray(wanted)) throw badArgument([], wanted)
  const field = fieldOf(key, setOrder, 'setElementOrder list')
  const [live, change] = [listIn(members, field), listIn(changes, field)]
  if (live === undefined && change === undefined) return
  const own = memberSchema(schema, field)
  const merging = {
    mergeKey: mergeKeyOf(own),
    isMerged: strategyOf(own) === 'merge',
    mergeItem: mergeItem(own),
  }
  members.set(field, orderedList({ live, change, wanted }, { ...merging, plain: withoutDirectives }))
  changes.delete(field)
}

const mergeItem =
  (schema: MergeSchema) =>
  (live: Members, change: Members): Members =>
    applyStrategicMergePatch(live, change, itemSchema(schema))

function mergeMember(members: Map<string, unknown>, schema: MergeSchema, [name, change]: Change): void {
  const isDeletion = name.startsWith(deleteFromList)
  const key = isDeletion ? fieldOf(name, deleteFromList, 'primitive list') : name
  if (change === null) return void members.delete(key)
  const live = members.get(key)
  const own = memberSchema(schema, key)
  if (isMembers(live) && isMembers(change)) {
    members.set(key, strategyOf(own) === 'replace' ? change : applyStrategicMergePatch(live, change, own))
  } else if (Array.isArray(live) && Array.isArray(change)) {
    members.set(key, isDeletion ? deleteScalars(live, change) : mergedList(live, change, own))
  } else if (!isDeletion) {
    set(members, key, withoutDirectives(withoutNulls(change)))
  }
}

function mergedList(live: readonly unknown[], change: readonly unknown[], schema: MergeSchema): unknown {
  if (strategyOf(schema) !== 'merge') return change
  return mergeList(live, change, { mergeKey: mergeKeyOf(schema), mergeItem: mergeItem(schema) })
}

function set(members: Map<string, unknown>, key: string, value: unknown): void {
  if (value === undefined) members.delete(key)
  else members.set(key, value)
}

/** Nulls in new values delete nothing. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isMembers(value)) return value
  const entries = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(entries.map(([key, member]) => [key, withoutNulls(member)]))
}

/** A new value without its directives; undefined if it is one itself. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter(item => item !== undefined)
  if (!isMembers(value)) return value
  if (Object.hasOwn(value, directive)) return undefined
  const entries = Object.entries(value).map(([key, member]) => [key, withoutDirectives(member)] as const)
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined))
}
