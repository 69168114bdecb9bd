import { CelError, type CelValue } from './value.ts'

/** A CEL int of 64 bits: a number where that is exact, else a bigint. */
export type Int = number | bigint

const min = -(2n ** 63n)
const max = 2n ** 63n - 1n

export const inInt64 = (value: bigint): boolean => value >= min && value <= max

export const inUint64 = (value: bigint): boolean => value >= 0n && value < 2n ** 64n

const safe = BigInt(Number.MAX_SAFE_INTEGER)

/** The canonical form of an int: equal ints are equal with `===`. */
export const normalInt = (value: bigint): Int => (value <= safe && value >= -safe ? Number(value) : value)

const overflow = new CelError('integer overflow')

const wide = (value: bigint): CelValue => (inInt64(value) ? normalInt(value) : overflow)

/** Excludes results that a number cannot hold exactly. */
const exact = (value: number): value is number => Number.isSafeInteger(value)

export function addInts(a: Int, b: Int): CelValue {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (exact(sum)) return sum
  }
  return wide(BigInt(a) + BigInt(b))
}

export function subtractInts(a: Int, b: Int): CelValue {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (exact(difference)) return difference
  }
  return wide(BigInt(a) - BigInt(b))
}

export function multiplyInts(a: Int, b: Int): CelValue {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (exact(product)) return product + 0
  }
  return wide(BigInt(a) * BigInt(b))
}

export function divideInts(a: Int, b: Int): CelValue {
  if (BigInt(b) === 0n) return new CelError('division by zero')
  return wide(BigInt(a) / BigInt(b))
}

export function moduloInts(a: Int, b: Int): CelValue {
  if (BigInt(b) === 0n) return new CelError('modulus by zero')
  return wide(BigInt(a) % BigInt(b))
}

export const negateInt = (a: Int): CelValue => (typeof a === 'number' ? 0 - a : wide(-a))
