import { deepFreeze, isObject } from '../../framework/json/values.ts'

/** The most that defaults add to one object, and the most that the defaults of one schema contain together. */
export const defaultLimits = { values: 100_000, bytes: 2 ** 20 } as const

/** The size of a value: the number of values in it, and the characters of its keys and strings. */
export interface ValueCost {
  readonly values: number
  readonly bytes: number
}

export function costOf(value: unknown): ValueCost {
  let values = 0
  let bytes = 0
  const add = (each: unknown): void => {
    values++
    if (typeof each === 'string') bytes += each.length
    if (Array.isArray(each)) each.forEach(add)
    else if (isObject(each)) for (const key in each) addMember(key, each[key])
  }
  const addMember = (key: string, member: unknown): void => {
    bytes += key.length
    add(member)
  }
  add(value)
  return { values, bytes }
}

/** A default, decoded and frozen. */
export interface Fallback {
  readonly value: unknown
  readonly cost: ValueCost
}

export const fallbackOf = (value: unknown): Fallback => ({ value: deepFreeze(value), cost: costOf(value) })

/** Defaults would add more than `defaultLimits` to an object. */
export class DefaultsLimitError extends Error {
  override readonly name = 'DefaultsLimitError'
  /** `100000 values` or `1048576 bytes`. */
  readonly limit: string
  /** The path of the field whose default does not fit. */
  readonly field: string

  constructor(limit: string, field: string) {
    super(`the defaults of the schema add more than ${limit} to the object: ${field}`)
    this.limit = limit
    this.field = field
  }
}

export interface DefaultsLimit {
  /** A default that does not fit is an error; otherwise it is left out, and all after it. */
  readonly strict: boolean
}

/** The remaining size that defaults may add to an object. */
export class DefaultsAllowance {
  #values: number = defaultLimits.values
  #bytes: number = defaultLimits.bytes
  readonly #isStrict: boolean

  constructor({ strict }: DefaultsLimit) {
    this.#isStrict = strict
  }

  /** No further default is added. */
  get isSpent(): boolean {
    return this.#values < 0 || this.#bytes < 0
  }

  /** Whether the default is added. Throws `DefaultsLimitError`. */
  takes({ values, bytes }: ValueCost, fieldOf: () => string): boolean {
    if (this.isSpent) return false
    this.#values -= values
    this.#bytes -= bytes
    if (!this.isSpent) return true
    if (!this.#isStrict) return false
    const { values: mostValues, bytes: mostBytes } = defaultLimits
    throw new DefaultsLimitError(this.#values < 0 ? `${mostValues} values` : `${mostBytes} bytes`, fieldOf())
  }
}
