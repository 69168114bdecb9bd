import { timestampNanos } from './time.ts'
import { CelDuration, CelTimestamp, type CelValue, Double, Uint } from './value.ts'

type Order = -1 | 0 | 1

const order = <T extends number | bigint>(a: T, b: T): Order => (a < b ? -1 : a > b ? 1 : 0)

/** Texts compare by code points, not by the units of JavaScript. */
function orderTexts(a: string, b: string): Order {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    // Surrogates stand for code points above all others.
    if (x !== y)
      return order(x >= 0xd800 && x < 0xe000 ? x + 0x10000 : x, y >= 0xd800 && y < 0xe000 ? y + 0x10000 : y)
  }
  return order(a.length, b.length)
}

const isInt = (value: CelValue): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

/** Numbers of any kind; undefined when one is none. NaN is equal to nothing and ordered with nothing: 0 here. */
function orderNumbers(a: CelValue, b: CelValue): Order | undefined {
  if (isInt(a) && isInt(b)) return a < b ? -1 : a > b ? 1 : 0
  const x = numberOf(a)
  const y = numberOf(b)
  if (x === undefined || y === undefined) return undefined
  return x < y ? -1 : x > y ? 1 : 0
}

function numberOf(value: CelValue): number | bigint | undefined {
  if (isInt(value)) return value
  if (value instanceof Double) return value.value
  return value instanceof Uint ? value.value : undefined
}

/** Which of two values comes first; undefined when they have no order. */
export function compareValues(a: CelValue, b: CelValue): Order | undefined {
  if (typeof a === 'number' && typeof b === 'number') return order(a, b)
  if (typeof a === 'string') return typeof b === 'string' ? orderTexts(a, b) : undefined
  if (typeof a === 'boolean') return typeof b === 'boolean' ? order(Number(a), Number(b)) : undefined
  if (a instanceof CelTimestamp)
    return b instanceof CelTimestamp ? order(timestampNanos(a), timestampNanos(b)) : undefined
  if (a instanceof CelDuration) return b instanceof CelDuration ? order(a.nanos, b.nanos) : undefined
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : undefined
  return orderNumbers(a, b)
}

/** Whether two numbers of any kinds are equal; undefined when one is no number. */
export function equalNumbers(a: CelValue, b: CelValue): boolean | undefined {
  const x = numberOf(a)
  const y = numberOf(b)
  // biome-ignore lint/suspicious/noDoubleEquals: an int and a double are equal when their numbers are
  return x === undefined || y === undefined ? undefined : x == y
}
