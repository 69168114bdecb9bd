import { maxDepth } from '../json/json.ts'
import { isMembers } from '../json/values.ts'
import { StatusError } from '../meta/errors.ts'

type Members = Record<string, unknown>

/** 422; the failure is in a cause only (rules.md 5.6). */
export class PatchFailed extends StatusError {
  constructor(why: string) {
    const text = 'the server rejected our request due to an error in our request'
    super(422, 'Invalid', text, { causes: [{ message: why }] })
  }
}

export const failed = (why: string): StatusError => new PatchFailed(why)

/** Documents with more levels are refused: functions call themselves for each level. */
export const mostLevels = 4 * maxDepth

/** The levels of a path, up to more than a document can have: a path can have a million. */
export function levelsOf(path: string): number {
  let levels = 1
  for (let at = path.indexOf('/'); at >= 0 && levels <= mostLevels; at = path.indexOf('/', at + 1)) levels++
  return levels
}

/** The target of a pointer: a member or an item, which need not exist. */
export interface PointerTarget {
  readonly parent: Members | unknown[]
  readonly key: string
}

/** The error of `evanphx/json-patch` for a missing value. */
export const missing = (why: string): StatusError => failed(`${why}: missing value`)

/** Throws `why` if no value can have such a member. */
export function placeAt(root: Members, path: string, why: string): PointerTarget {
  if (path !== '' && !path.startsWith('/')) throw missing(why)
  if (levelsOf(path) > mostLevels) throw failed('exceeded max depth')
  const tokens = path.split('/').map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  let parent: Members | unknown[] = root
  for (const key of tokens.slice(0, -1)) {
    const place: PointerTarget = { parent, key }
    const child: unknown = exists(place) ? valueAt(place) : undefined
    if (!isMembers(child) && !Array.isArray(child)) throw missing(why)
    parent = child
  }
  return { parent, key: tokens.at(-1) ?? '' }
}

export const indexOf = (key: string): number => (/^(0|[1-9]\d*)$/.test(key) ? Number(key) : -1)

export const exists = ({ parent, key }: PointerTarget): boolean =>
  Array.isArray(parent) ? indexOf(key) >= 0 && indexOf(key) < parent.length : Object.hasOwn(parent, key)

export const valueAt = ({ parent, key }: PointerTarget): unknown =>
  Array.isArray(parent) ? parent[indexOf(key)] : parent[key]

/** The error for a key that is not an index. */
const noIndex = (key: string): string =>
  /^[-+]?\d+$/.test(key)
    ? `Unable to access invalid index: ${Number(key)}: invalid index referenced`
    : `value was not a proper array index: '${key}': strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`

/** The value at a place. Throws `what` with the reason. */
export function read(place: PointerTarget, what: string): unknown {
  if (exists(place)) return valueAt(place)
  const { parent, key } = place
  if (Array.isArray(parent)) throw failed(`${what}: ${noIndex(key)}`)
  throw missing(`${what}: Unable to remove nonexistent key: ${key}`)
}

/** Sets a member or inserts an item. Throws `what` with the reason. */
export function insert({ parent, key }: PointerTarget, value: unknown, what: string): void {
  if (!Array.isArray(parent)) {
    Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true })
    return
  }
  const index = key === '-' ? parent.length : indexOf(key)
  if (index < 0 || index > parent.length) throw failed(`${what}: ${noIndex(key)}`)
  parent.splice(index, 0, value)
}

/** Removes a member or an item, and returns it. Throws `what` with the reason. */
export function take(place: PointerTarget, what: string): unknown {
  const value = read(place, what)
  const { parent, key } = place
  if (Array.isArray(parent)) parent.splice(indexOf(key), 1)
  else delete parent[key]
  return value
}
