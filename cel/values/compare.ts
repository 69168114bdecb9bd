import { isDeepStrictEqual } from 'node:util'
import { type CostTracker, spend } from './costtracker.ts'
import { ObjectView } from './maps.ts'
import { timestampNanos } from './time.ts'
import {
  CelDuration,
  CelTimestamp,
  type CelValue,
  Double,
  isList,
  isMap,
  isOpaque,
  itemAt,
  ListView,
  type MapValue,
  Optional,
  StructValue,
  sizeOf,
  TypeValue,
  Uint,
  UntypedValue,
} from './value.ts'

/** Whether two values are equal; values of different kinds are not. Each comparison counts as work. */
export function equalValues(a: CelValue, b: CelValue, tracker: CostTracker): boolean {
  spend(tracker, 1)
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length > 64) spend(tracker, a.length >> 6)
    return a === b
  }
  if (a === b) return true
  if (typeof a === 'string' || typeof a === 'boolean' || a === null || b === null) return false
  const numbers = equalNumbers(a, b)
  if (numbers !== undefined) return numbers
  if (isList(a)) return isList(b) && equalLists(a, b, tracker)
  if (isMap(a)) return isMap(b) && equalMaps(a, b, tracker)
  return equalObjects(a, b, tracker)
}

function equalObjects(a: CelValue, b: CelValue, tracker: CostTracker): boolean {
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && timestampNanos(a) === timestampNanos(b)
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof UntypedValue) return b instanceof UntypedValue && equalRaw(a.raw, b.raw, tracker)
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b, tracker)
  if (a instanceof StructValue) return b instanceof StructValue && equalStructs(a, b, tracker)
  return isOpaque(a) && isOpaque(b) && a.opaque.name === b.opaque.name && a.equals(b)
}

const equalOptionals = (a: Optional, b: Optional, tracker: CostTracker): boolean =>
  a.value === undefined || b.value === undefined
    ? a.value === b.value
    : equalValues(a.value, b.value, tracker)

const equalStructs = (a: StructValue, b: StructValue, tracker: CostTracker): boolean =>
  a.type === b.type &&
  a.fields.size === b.fields.size &&
  [...a.fields].every(([name, value]) => {
    const other = b.fields.get(name)
    return other !== undefined && equalValues(value, other, tracker)
  })

/** Untyped values are compared as JSON. */
function equalRaw(a: unknown, b: unknown, tracker: CostTracker): boolean {
  spend(tracker, rawSize(a))
  return isDeepStrictEqual(a, b)
}

const rawSize = (raw: unknown): number =>
  typeof raw !== 'object' || raw === null
    ? 1
    : Object.values(raw).reduce<number>((sum, value) => sum + rawSize(value), 1)

type List = readonly CelValue[] | ListView

function equalLists(a: List, b: List, tracker: CostTracker): boolean {
  const size = sizeOf(a)
  if (size !== sizeOf(b)) return false
  if (a instanceof ListView && a.kind.type !== 'atomic') return equalKeyed(a, b, tracker)
  spend(tracker, 3)
  for (let i = 0; i < size; i++) if (!equalValues(itemAt(a, i), itemAt(b, i), tracker)) return false
  return true
}

/** Sets and lists of type map are equal in any order. */
function equalKeyed(a: ListView, b: List, tracker: CostTracker): boolean {
  const { kind } = a
  const keyOf = kind.type === 'map' ? kind.keyOf : scalarKey
  // The map of keys costs memory.
  spend(tracker, sizeOf(a) * 8)
  const byKey = new Map(a.raw.map((raw, i) => [keyOf(raw), i]))
  const others = b instanceof ListView ? b.raw : b.map(item => (item instanceof ObjectView ? item.raw : item))
  return others.every((raw, i) => {
    const index = byKey.get(keyOf(raw))
    if (index === undefined) return false
    return kind.type === 'set' || equalValues(itemAt(a, index), itemAt(b, i), tracker)
  })
}

/** A key for an item of a set: equal items have equal keys. */
export const scalarKey = (raw: unknown): string => `${typeof raw === 'bigint' ? 'number' : typeof raw}:${raw}`

function equalMaps(a: MapValue, b: MapValue, tracker: CostTracker): boolean {
  if (a.size !== b.size) return false
  const keys = a.keys()
  spend(tracker, keys.length * 8)
  const isSame = keys.every(key => {
    const [mine, other] = [a.get(key), b.get(key)]
    if (mine === undefined || other === undefined) return mine === other
    return equalValues(mine, other, tracker)
  })
  return isSame && (!(a instanceof ObjectView) || !(b instanceof ObjectView) || equalHidden(a, b, tracker))
}

/** Members that no field declares are compared as JSON if both objects have them. */
function equalHidden(a: ObjectView, b: ObjectView, tracker: CostTracker): boolean {
  spend(tracker, a.fields.size)
  const known = new Set([...a.fields.values()].map(field => field.key))
  return Object.entries(a.raw).every(
    ([key, raw]) => known.has(key) || !Object.hasOwn(b.raw, key) || equalRaw(raw, b.raw[key], tracker),
  )
}

type Order = -1 | 0 | 1

const order = <T extends number | bigint>(a: T, b: T): Order => (a < b ? -1 : a > b ? 1 : 0)

/** Strings are compared by code points, not by UTF-16 units. */
function orderTexts(a: string, b: string): Order {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    // Surrogates encode the code points above all others.
    if (x !== y)
      return order(x >= 0xd800 && x < 0xe000 ? x + 0x10000 : x, y >= 0xd800 && y < 0xe000 ? y + 0x10000 : y)
  }
  return order(a.length, b.length)
}

const isInt = (value: CelValue): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

/** Orders numbers of any kind; undefined if one is not a number. 0 for NaN, which has no order. */
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

/** The order of two values; undefined if they cannot be compared. */
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

/** Whether two numbers of any kind are equal; undefined if one is not a number. */
function equalNumbers(a: CelValue, b: CelValue): boolean | undefined {
  const x = numberOf(a)
  const y = numberOf(b)
  // biome-ignore lint/suspicious/noDoubleEquals: an int and a double are equal when their numbers are
  return x === undefined || y === undefined ? undefined : x == y
}
