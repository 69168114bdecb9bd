import { mostMembers } from '../json/exactjson.ts'
import { Work } from '../json/json.ts'
import { isMembers, keysOf } from '../json/values.ts'
import { type StatusError, tooLarge } from '../meta/errors.ts'

/** Bytes of JSON that have fewer members: each has at least a quoted key, a colon, a value and a comma. */
const bytesOfMost = 5 * mostMembers

/** Characters of a path in an error: keys can have any length. */
const longestPath = 250

/** 413 for an object with too many members; its path is empty for the outermost one. `after` is the end of the message. */
export function tooManyMembers(path: string, after = ''): StatusError {
  const place = path.length > longestPath ? `${path.slice(0, longestPath)}…` : path
  return tooLarge(`limit of one object is ${mostMembers} members${place === '' ? '' : `: ${place}`}${after}`)
}

/** Whether an object could have too many members after a patch: by the bytes of the object and of the patch together. */
export const mayHaveTooManyMembers = (bytes: number): boolean => bytes > bytesOfMost

/**
 * Checks the objects in the result of a patch, in steps. Throws 413, except for a result that has no larger object than `live`: a
 * stored object that is too large can be repaired. `after` is the end of the message.
 */
export function* checkMembers(result: unknown, live: unknown, after = ''): Generator<void> {
  const work = new Work()
  const largest = yield* largestIn(result, '', work)
  if (largest.members <= mostMembers) return
  if (largest.members > (yield* largestIn(live, '', work)).members) throw tooManyMembers(largest.path, after)
}

interface Largest {
  readonly members: number
  readonly path: string
}

const none: Largest = { members: 0, path: '' }

function* largestIn(value: unknown, path: string, work: Work): Generator<void, Largest> {
  if (Array.isArray(value)) return yield* largestOf(value.entries(), i => `${path}[${i}]`, work)
  if (!isMembers(value)) return none
  const keys = keysOf(value)
  const below = yield* largestOf(membersOf(value, keys), key => (path === '' ? key : `${path}.${key}`), work)
  return below.members > keys.length ? below : { members: keys.length, path }
}

function* membersOf(value: Record<string, unknown>, keys: readonly string[]): Generator<[string, unknown]> {
  for (const key of keys) yield [key, value[key]]
}

function* largestOf<K>(
  members: Iterable<[K, unknown]>,
  pathOf: (key: K) => string,
  work: Work,
): Generator<void, Largest> {
  let largest = none
  for (const [key, value] of members) {
    if (work.isStepDone()) yield
    if (typeof value !== 'object' || value === null) continue
    const found = yield* largestIn(value, pathOf(key), work)
    if (found.members > largest.members) largest = found
  }
  return largest
}
