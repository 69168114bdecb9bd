import { isDeepStrictEqual } from 'node:util'
import { badRequest, StatusError, tooLarge } from './errors.ts'
import { isMembers } from './json.ts'
import { bodyLimit } from './mediatypes.ts'

/**
 * RFC 6902, ours because the documents are tenants': the libraries evaluate pointers through inherited members, so that
 * `/toString/call` would change this process. Here only own members exist.
 */
export interface JsonPatch {
  readonly operations: readonly Operation[]
  /** Strict problems: members that operations do not have (chapter 40, rule 2.49). */
  readonly problems: readonly string[]
}

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

type Members = Record<string, unknown>

const maxOperations = 10_000
const known = ['op', 'path', 'from', 'value']

/** 422 in Kubernetes' words; what failed is only a cause (chapter 40, rule 5.6). */
class PatchFailed extends StatusError {
  constructor(why: string) {
    const text = 'the server rejected our request due to an error in our request'
    super(422, 'Invalid', text, { causes: [{ message: why }] })
  }
}

/** A `test` operation found another value. */
export class TestFailed extends PatchFailed {}

const failed = (why: string): StatusError => new PatchFailed(why)

/** Checks a decoded patch, of which null is an empty one: 400 when it is no list of objects, 413 for too many operations,
 * 422 for malformed ones. */
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
  const problems = value.flatMap((operation, i) =>
    Object.keys(operation ?? {})
      .filter(key => !known.includes(key))
      .map(key => `json patch unknown field "[${i}].${key}"`),
  )
  return { operations: value.map(readOperation), problems }
}

function readOperation(value: unknown): Operation {
  if (!isMembers(value)) throw badRequest('error decoding patch: an operation must be an object')
  const { op, path, from } = value
  if (typeof path !== 'string') throw failed('an operation needs a path')
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      if (!Object.hasOwn(value, 'value')) throw failed(`${op} needs a value`)
      return { op, path, value: value.value }
    case 'remove':
      return { op, path }
    case 'move':
    case 'copy':
      if (typeof from !== 'string') throw failed(`${op} needs from`)
      return { op, path, from }
    default:
      throw failed(`unknown operation ${JSON.stringify(op)}`)
  }
}

/** Applies the operations to a copy of the document. Throws 422 for the first that fails, 413 when copies grow too large. */
export function applyJsonPatch(document: unknown, { operations }: JsonPatch): unknown {
  // The document hangs under a root, so that the empty path is a member like any other.
  const state: State = { root: { '': clone(document) }, copied: 0 }
  for (const operation of operations) apply(state, operation)
  return state.root['']
}

interface State {
  readonly root: Members
  copied: number
}

function apply(state: State, operation: Operation): void {
  const { root } = state
  const { path } = operation
  switch (operation.op) {
    case 'add':
      add(root, path, clone(operation.value))
      break
    case 'remove':
      remove(root, path)
      break
    case 'replace':
      replace(root, path, clone(operation.value))
      break
    case 'test':
      test(root, path, operation.value)
      break
    case 'move':
      move(root, operation.from, path)
      break
    default:
      copy(state, operation.from, path)
  }
}

/** An item has to be there; a member need not: upstream's library sets it. */
function replace(root: Members, path: string, value: unknown): void {
  if (Array.isArray(locate(root, path).parent)) remove(root, path)
  add(root, path, value)
}

function move(root: Members, from: string, path: string): void {
  if (path.startsWith(`${from}/`)) throw failed('cannot move a value into itself')
  add(root, path, remove(root, from))
}

function copy(state: State, from: string, path: string): void {
  const value = read(locate(state.root, from), from)
  state.copied += weigh(value, bodyLimit - state.copied)
  if (state.copied > bodyLimit) throw tooLarge(`the copies of a JSON patch may not exceed ${bodyLimit} bytes`)
  add(state.root, path, clone(value))
}

function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone)
  if (!isMembers(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clone(member)]))
}

/** About how many bytes a value is as JSON; stops counting when it is more than `budget`. */
function weigh(value: unknown, budget: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 4
  let weight = 2
  for (const [key, member] of Object.entries(value)) {
    weight += (Array.isArray(value) ? 1 : key.length + 4) + weigh(member, budget - weight)
    if (weight > budget) break
  }
  return weight
}

/** A member or an item: where a pointer leads, which need not exist. */
interface Place {
  readonly parent: Members | unknown[]
  readonly key: string
}

function locate(root: Members, path: string): Place {
  if (path !== '' && !path.startsWith('/')) throw failed(`${path} is not a JSON pointer`)
  const tokens = path.split('/').map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  let parent: Members | unknown[] = root
  for (const token of tokens.slice(0, -1)) {
    const child: unknown = exists({ parent, key: token }) ? read({ parent, key: token }, path) : undefined
    if (!isMembers(child) && !Array.isArray(child)) throw failed(`${path} has no parent`)
    parent = child
  }
  return { parent, key: tokens.at(-1) ?? '' }
}

const indexOf = (key: string): number => (/^(0|[1-9]\d*)$/.test(key) ? Number(key) : -1)

const exists = ({ parent, key }: Place): boolean =>
  Array.isArray(parent) ? indexOf(key) >= 0 && indexOf(key) < parent.length : Object.hasOwn(parent, key)

function read(place: Place, path: string): unknown {
  if (!exists(place)) throw failed(`${path} does not exist`)
  const { parent, key } = place
  return Array.isArray(parent) ? parent[indexOf(key)] : parent[key]
}

function add(root: Members, path: string, value: unknown): void {
  const { parent, key } = locate(root, path)
  if (!Array.isArray(parent)) {
    Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true })
    return
  }
  const index = key === '-' ? parent.length : indexOf(key)
  if (index < 0 || index > parent.length) throw failed(`${path} is not an index of the list`)
  parent.splice(index, 0, value)
}

function remove(root: Members, path: string): unknown {
  const place = locate(root, path)
  const value = read(place, path)
  const { parent, key } = place
  if (Array.isArray(parent)) parent.splice(indexOf(key), 1)
  else delete parent[key]
  return value
}

/** As in Kubernetes, an absent member equals null. */
function test(root: Members, path: string, expected: unknown): void {
  const place = locate(root, path)
  const actual = exists(place) ? read(place, path) : null
  if (!isDeepStrictEqual(actual, expected)) throw new TestFailed(`testing value ${path} failed`)
}
