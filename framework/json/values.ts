/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object, neither null nor an array, that the caller may have made and may change. */
export const isMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is a JSON object, which is only read. */
export const isObject = (value: unknown): value is JsonObject => isMembers(value)

/**
 * An own member of an object; undefined for other values. Keys such as `constructor` and `__proto__` are ordinary keys.
 */
export const memberOf = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** The value at a path; undefined if a part of the path is missing. */
export const valueAt = (value: unknown, ...path: readonly string[]): unknown => path.reduce(memberOf, value)

/** The string at a path; empty if it is missing or not a string. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path)
  return typeof found === 'string' ? found : ''
}

/** The array at a path; empty if it is missing or not an array. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...path)
  return Array.isArray(found) ? found : []
}

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** Integers beyond 2^53 are bigints; a number beyond 64 bits is not an integer. */
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

/** A number as Go prints it: like JavaScript, with other exponents for very small and very large numbers. */
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

/** Like `push(...items)` for any number of items. */
export function append<T>(list: T[], items: readonly T[]): void {
  for (const item of items) list.push(item)
}

interface Made<T> {
  readonly value: T
}

/** A value that is made in steps when it is first needed. */
export class LazySteps<T> {
  readonly #make: () => Generator<void, T>
  #made: Made<T> | undefined

  constructor(make: () => Generator<void, T>) {
    this.#make = make
  }

  /** undefined: it is not made yet. */
  get made(): Made<T> | undefined {
    return this.#made
  }

  *steps(): Generator<void, Made<T>> {
    this.#made ??= { value: yield* this.#make() }
    return this.#made
  }
}

/** Makes a value when it is first needed. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** What is made of the members of an object, each when it is first needed: an object may have 100,000 members. */
export class LazyMembers<M, T> {
  readonly #members: Readonly<Record<string, M>>
  readonly #make: (member: M, name: string) => T
  readonly #made = new Map<string, T>()

  constructor(members: Readonly<Record<string, M>> | undefined, make: (member: M, name: string) => T) {
    this.#members = members ?? {}
    this.#make = make
  }

  get isEmpty(): boolean {
    for (const _ in this.#members) return false
    return true
  }

  get(name: string): T | undefined {
    const known = this.#made.get(name)
    if (known !== undefined || !Object.hasOwn(this.#members, name)) return known
    const made = this.#make(this.#members[name] as M, name)
    this.#made.set(name, made)
    return made
  }
}

/** Keys from which on the list of them is kept. */
const manyKeys = 512

const knownKeys = new WeakMap<object, readonly string[]>()

/** V8 lists keys such as `7` before all others. */
const isNumeric = (key: string): boolean => key >= '0' && key < ':'

/**
 * Keeps the list of the keys of a new object, in the order in which they were added, each once. V8 sorts the members of a large object
 * each time it lists them, also for the first step of a loop (45,000: 6 ms), and a request visits them a dozen times.
 */
export function keepKeys(object: object, keys: readonly string[]): void {
  if (keys.length < manyKeys || keys.some(isNumeric)) return
  knownKeys.set(object, keys)
  // A key that is added later would be lost without an error.
  Object.preventExtensions(object)
}

/** What `Object.keys` returns. */
export const keysOf = (object: object): readonly string[] => knownKeys.get(object) ?? Object.keys(object)

/** Whether an object is known to have many keys. */
export const hasManyKeys = (object: object): boolean => knownKeys.has(object)
