import { isMembers } from '../../json/json.ts'
export type Members = Readonly<Record<string, unknown>>
export type List = readonly unknown[]

export { isMembers }
export const isList = (value: unknown): value is List => Array.isArray(value)
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'
export const isScalar = (value: unknown): value is string | number | bigint | boolean =>
  typeof value === 'string' || typeof value === 'boolean' || isNumber(value)

/** An own member; undefined if there is none. */
export const own = (members: Members, key: string): unknown =>
  Object.hasOwn(members, key) ? members[key] : undefined

/** Deep equality; numbers and bigints are compared by value. */
export function equals(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isNumber(a) && isNumber(b)) return typeof a !== typeof b && Number(a) === Number(b)
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => equals(item, b[i]))
  if (!isMembers(a) || !isMembers(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && equals(a[key], b[key]))
  )
}
