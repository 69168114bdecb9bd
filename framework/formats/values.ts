import { isMembers } from '../json/json.ts'
/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields => isMembers(value)

/** A member of an object's own; undefined for anything else. Keys such as `constructor` and `__proto__` are ordinary. */
export const memberOf = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** What lies below an object of unknown shape: undefined as soon as something is missing. */
export const valueAt = (value: unknown, ...path: readonly string[]): unknown => path.reduce(memberOf, value)

/** Text below an object of unknown shape; '' when it is missing or something else. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path)
  return typeof found === 'string' ? found : ''
}

/** A list below an object of unknown shape; empty when it is missing or something else. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path)
  return Array.isArray(found) ? found : []
}

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** Integers beyond 2^53 arrive as bigint; a number beyond 64 bits is no integer, whatever its fraction. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) <= 2 ** 63

export function typeOf(value: unknown): JsonType {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return typeof value as JsonType
    case 'bigint':
      return 'integer'
    case 'number':
      return isInt64(value) ? 'integer' : 'number'
    default:
      if (value === null || value === undefined) return 'null'
      return Array.isArray(value) ? 'array' : 'object'
  }
}

/** A number as Go prints it: like JavaScript, but for the exponents of very small and very large ones. */
export function formatNumber(value: number | bigint): string {
  const size = Math.abs(Number(value))
  if (typeof value === 'bigint' || size === 0 || (size >= 1e-4 && size < 1e21)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

/** The number of Unicode code points. */
export function codePoints(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    if (isPair) count--
  }
  return count
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}

/** Like `push(...items)`, for any number of items. */
export function append<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item)
}
