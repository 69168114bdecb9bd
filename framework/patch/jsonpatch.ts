import { setMember } from '../json/exactjson.ts'
import { atOnce, maxDepth, Work } from '../json/json.ts'
import { sameJsonSteps } from '../json/same.ts'
import { isMembers, keysOf } from '../json/values.ts'
import { badRequest, tooLarge } from '../meta/errors.ts'
import { bodyLimit, isTooDeep } from '../wire/parsebody.ts'
import {
  exists,
  failed,
  indexOf,
  insert,
  levelsOf,
  missing,
  mostLevels,
  PatchFailed,
  placeAt,
  read,
  take,
  valueAt,
} from './pointer.ts'

/**
 * A JSON patch (RFC 6902). Not a library, because tenants write the documents: libraries resolve pointers through
 * inherited members, so that `/toString/call` would change this process. Here only own members exist.
 */
export interface JsonPatch {
  readonly operations: readonly Operation[]
  /** Problems in strict mode: unknown members of operations (rules.md 2.49). */
  readonly problems: readonly string[]
}

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

type Members = Record<string, unknown>

const maxOperations = 10_000
const known = ['op', 'path', 'from', 'value']
/** An operation has four: each is looked at, in one step for all operations. */
const maxMembers = 100
/** As many problems as Go reports. */
const maxProblems = 100

/** A `test` operation found another value. */
export class TestFailed extends PatchFailed {}

/**
 * Checks a decoded patch; null is an empty patch. Throws 400 if it is not an array of objects, 413 for too many
 * operations or an operation with too many members, 422 for malformed ones.
 */
export function readJsonPatch(value: unknown): JsonPatch {
  if (value === null) return { operations: [], problems: [] }
  if (!Array.isArray(value)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
  }
  if (value.length > maxOperations) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${value.length}`)
  }
  const problems: string[] = []
  for (const [i, operation] of value.entries())
    for (const key of keysOfOperation(operation, i))
      if (!known.includes(key) && problems.length < maxProblems)
        problems.push(`json patch unknown field "[${i}].${key}"`)
  return { operations: value.map(readOperation), problems }
}

function keysOfOperation(operation: unknown, index: number): readonly string[] {
  const keys = isMembers(operation) ? keysOf(operation) : []
  if (keys.length <= maxMembers) return keys
  throw tooLarge(`limit of an operation of a JSON patch is ${maxMembers} members: [${index}]`)
}

function readOperation(value: unknown): Operation {
  if (!isMembers(value)) throw badRequest('error decoding patch: an operation must be an object')
  const { op, path, from } = value
  if (typeof path !== 'string') throw missing('operation missing path field')
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (!Object.hasOwn(value, 'value')) throw missing('operation, missing value field')
      return { op, path, value: value.value }
    case 'remove':
      return { op, path }
    case 'move':
    case 'copy':
      if (typeof from !== 'string') throw missing('operation, missing from field')
      return { op, path, from }
    default:
      throw failed(`Unexpected kind: ${op === undefined ? 'unknown' : String(op)}`)
  }
}

/**
 * Applies the operations to a copy of the document. Throws 422 for the first that fails, 413 if copies become too
 * large.
 */
export const applyJsonPatch = (document: unknown, patch: JsonPatch): unknown =>
  atOnce(applyJsonPatchSteps(document, patch))

/** What `applyJsonPatch` returns, in steps. */
export function* applyJsonPatchSteps(document: unknown, { operations }: JsonPatch): Generator<void, unknown> {
  // The document is a member of a root: the empty path is handled like the others.
  const work = new Work()
  const root = { '': yield* cloneSteps(document, work) }
  const state: State = { root, work, copied: 0, depth: maxDepth }
  for (const operation of operations) {
    yield
    yield* apply(state, operation)
  }
  return state.root['']
}

interface State {
  readonly root: Members
  readonly work: Work
  copied: number
  /** The document is at most so deep, if its parts and the values of the patch have at most `maxDepth` levels. */
  depth: number
}

/** Throws 422 where copies and moves into each other make the document too deep. Called before each of them. */
function checkDepth(state: State, path: string): void {
  const levels = levelsOf(path)
  state.depth += levels
  if (state.depth <= mostLevels) return
  if (isTooDeep(state.root, 2 * maxDepth)) throw failed('exceeded max depth')
  state.depth = 2 * maxDepth + levels
  if (state.depth > mostLevels) throw failed('exceeded max depth')
}

function* apply(state: State, operation: Operation): Generator<void, void> {
  const { root, work } = state
  const { path } = operation
  switch (operation.op) {
    case 'add':
      state.depth = Math.max(state.depth, levelsOf(path) + maxDepth)
      add(root, path, yield* cloneSteps(operation.value, work))
      break
    case 'remove':
      remove(root, path)
      break
    case 'replace':
      state.depth = Math.max(state.depth, levelsOf(path) + maxDepth)
      replace(root, path, yield* cloneSteps(operation.value, work))
      break
    case 'test':
      yield* test(state, path, operation.value)
      break
    case 'move':
      checkDepth(state, path)
      move(root, operation.from, path)
      break
    default:
      checkDepth(state, path)
      yield* copy(state, operation.from, path)
  }
}

/** An item must exist, a member need not: the library of Kubernetes (`evanphx/json-patch`) sets it. */
function replace(root: Members, path: string, value: unknown): void {
  const place = placeAt(root, path, `replace operation does not apply: doc is missing path: ${path}`)
  const { parent, key } = place
  if (Array.isArray(parent)) {
    if (!exists(place)) throw missing(`replace operation does not apply: doc is missing key: ${path}`)
    parent[indexOf(key)] = value
  } else insert(place, value, '')
}

function move(root: Members, from: string, path: string): void {
  if (path.startsWith(`${from}/`)) throw failed('cannot move a value into itself')
  const what = 'move operation does not apply: doc is missing'
  const source = placeAt(root, from, `${what} from path: ${from}`)
  const value = take(source, `error in move for path: '${source.key}'`)
  const target = placeAt(root, path, `${what} destination path: ${path}`)
  insert(target, value, `error in move for path: '${path}'`)
}

function* copy(state: State, from: string, path: string): Generator<void, void> {
  const { root, work } = state
  const what = 'copy operation does not apply: doc is missing'
  const value = read(placeAt(root, from, `${what} from path: ${from}`), `error in copy for from: '${from}'`)
  state.copied += yield* weighSteps(value, bodyLimit - state.copied, work)
  if (state.copied > bodyLimit) throw tooLarge(`the copies of a JSON patch may not exceed ${bodyLimit} bytes`)
  const target = placeAt(root, path, `${what} destination path: ${path}`)
  insert(target, yield* cloneSteps(value, work), 'error while adding value during copy')
}

function* cloneSteps(value: unknown, work: Work): Generator<void, unknown> {
  if (Array.isArray(value)) return yield* clonedItems(value, work)
  if (!isMembers(value)) return value
  const copy: Members = {}
  for (const key in value) {
    if (work.isStepDone()) yield
    const member = value[key]
    setMember(copy, key, isScalar(member) ? member : yield* cloneSteps(member, work))
  }
  return copy
}

function* clonedItems(items: readonly unknown[], work: Work): Generator<void, unknown[]> {
  const copy: unknown[] = []
  for (const item of items) {
    if (work.isStepDone()) yield
    copy.push(isScalar(item) ? item : yield* cloneSteps(item, work))
  }
  return copy
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** Estimates the bytes of a value as JSON, in steps; stops counting above `budget`. */
function* weighSteps(value: unknown, budget: number, work: Work): Generator<void, number> {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 4
  let weight = 2
  for (const key in value) {
    if (work.isStepDone()) yield
    const member = (value as Members)[key]
    weight += (Array.isArray(value) ? 1 : key.length + 4) + (yield* weighSteps(member, budget - weight, work))
    if (weight > budget) break
  }
  return weight
}

function add(root: Members, path: string, value: unknown): void {
  const place = placeAt(root, path, `add operation does not apply: doc is missing path: "${path}"`)
  insert(place, value, `error in add for path: '${path}'`)
}

function remove(root: Members, path: string): void {
  const place = placeAt(root, path, `remove operation does not apply: doc is missing path: "${path}"`)
  take(place, `error in remove for path: '${path}'`)
}

/** As in Kubernetes, an absent member equals null. */
function* test({ root, work }: State, path: string, expected: unknown): Generator<void, void> {
  const place = placeAt(root, path, `test operation does not apply: is missing path: ${path}`)
  const actual = exists(place) ? valueAt(place) : null
  const isSame = yield* sameJsonSteps(actual, expected, work)
  if (!isSame) throw new TestFailed(`testing value ${path} failed: test failed`)
}
