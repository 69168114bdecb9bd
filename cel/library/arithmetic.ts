import { scalarKey } from '../values/compare.ts'
import { type CostTracker, spend, textOf } from '../values/costtracker.ts'
import { declare, type FunctionDecl, type FunctionOp, overload } from '../values/declaration.ts'
import {
  addInts,
  divideInts,
  type Int,
  inInt64,
  inUint64,
  moduloInts,
  multiplyInts,
  negateInt,
  subtractInts,
} from '../values/int.ts'
import { MapView, ObjectView } from '../values/maps.ts'
import { isTimestamp, timestampNanos, timestampOfNanos } from '../values/time.ts'
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listOf,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../values/type.ts'
import {
  CelDuration,
  CelError,
  type CelTimestamp,
  type CelValue,
  Double,
  itemsOf,
  type ListKind,
  ListView,
  sizeOf,
  Uint,
} from '../values/value.ts'

const ints =
  (compute: (a: Int, b: Int) => CelValue): FunctionOp =>
  ([a, b]) =>
    compute(a as Int, b as Int)

const uintOverflow = new CelError('unsigned integer overflow')
const durationOverflow = new CelError('duration overflow')
const timestampOverflow = new CelError('timestamp overflow')

const toUint = (value: bigint): CelValue => (inUint64(value) ? new Uint(value) : uintOverflow)

const uints =
  (compute: (a: bigint, b: bigint) => bigint): FunctionOp =>
  ([a, b]) =>
    toUint(compute((a as Uint).value, (b as Uint).value))

const divided =
  (compute: (a: bigint, b: bigint) => bigint, error: string): FunctionOp =>
  ([a, b]) =>
    (b as Uint).value === 0n ? new CelError(error) : toUint(compute((a as Uint).value, (b as Uint).value))

const doubles =
  (compute: (a: number, b: number) => number): FunctionOp =>
  ([a, b]) =>
    new Double(compute((a as Double).value, (b as Double).value))

const nanosOf = (value: CelValue | undefined): bigint =>
  value instanceof CelDuration ? value.nanos : timestampNanos(value as CelTimestamp)

const toDuration = (nanos: bigint): CelValue => (inInt64(nanos) ? new CelDuration(nanos) : durationOverflow)

function toTimestamp(nanos: bigint): CelValue {
  const timestamp = timestampOfNanos(nanos)
  return isTimestamp(timestamp) ? timestamp : timestampOverflow
}

const times =
  (make: (nanos: bigint) => CelValue, compute: (a: bigint, b: bigint) => bigint): FunctionOp =>
  ([a, b]) =>
    make(compute(nanosOf(a), nanosOf(b)))

const plus = (a: bigint, b: bigint): bigint => a + b
const minus = (a: bigint, b: bigint): bigint => a - b

const listOfA = listOf(paramType('A'))

const add = declare(
  '_+_',
  overload(
    'add_bytes',
    [bytesType, bytesType],
    bytesType,
    ([a, b], tracker) => new Uint8Array(Buffer.concat([a as Uint8Array, textOf(b as Uint8Array, tracker)])),
  ),
  overload(
    'add_double',
    [doubleType, doubleType],
    doubleType,
    doubles((a, b) => a + b),
  ),
  overload('add_duration_duration', [durationType, durationType], durationType, times(toDuration, plus)),
  overload('add_duration_timestamp', [durationType, timestampType], timestampType, times(toTimestamp, plus)),
  overload('add_timestamp_duration', [timestampType, durationType], timestampType, times(toTimestamp, plus)),
  overload('add_int64', [intType, intType], intType, ints(addInts)),
  overload('add_list', [listOfA, listOfA], listOfA, ([a, b], tracker) =>
    addLists(a as readonly CelValue[] | ListView, b as readonly CelValue[] | ListView, tracker),
  ),
  overload('add_string', [stringType, stringType], stringType, ([a, b], tracker) =>
    textOf(`${a}${b}`, tracker),
  ),
  overload('add_uint64', [uintType, uintType], uintType, uints(plus)),
)

const subtract = declare(
  '_-_',
  overload(
    'subtract_double',
    [doubleType, doubleType],
    doubleType,
    doubles((a, b) => a - b),
  ),
  overload(
    'subtract_duration_duration',
    [durationType, durationType],
    durationType,
    times(toDuration, minus),
  ),
  overload('subtract_int64', [intType, intType], intType, ints(subtractInts)),
  overload(
    'subtract_timestamp_duration',
    [timestampType, durationType],
    timestampType,
    times(toTimestamp, minus),
  ),
  overload(
    'subtract_timestamp_timestamp',
    [timestampType, timestampType],
    durationType,
    times(toDuration, minus),
  ),
  overload('subtract_uint64', [uintType, uintType], uintType, uints(minus)),
)

export const arithmetic: readonly FunctionDecl[] = [
  add,
  subtract,
  declare(
    '_*_',
    overload(
      'multiply_double',
      [doubleType, doubleType],
      doubleType,
      doubles((a, b) => a * b),
    ),
    overload('multiply_int64', [intType, intType], intType, ints(multiplyInts)),
    overload(
      'multiply_uint64',
      [uintType, uintType],
      uintType,
      uints((a, b) => a * b),
    ),
  ),
  declare(
    '_/_',
    overload(
      'divide_double',
      [doubleType, doubleType],
      doubleType,
      doubles((a, b) => a / b),
    ),
    overload('divide_int64', [intType, intType], intType, ints(divideInts)),
    overload(
      'divide_uint64',
      [uintType, uintType],
      uintType,
      divided((a, b) => a / b, 'division by zero'),
    ),
  ),
  declare(
    '_%_',
    overload('modulo_int64', [intType, intType], intType, ints(moduloInts)),
    overload(
      'modulo_uint64',
      [uintType, uintType],
      uintType,
      divided((a, b) => a % b, 'modulus by zero'),
    ),
  ),
  declare(
    '-_',
    overload('negate_double', [doubleType], doubleType, ([a]) => new Double(-(a as Double).value)),
    overload('negate_int64', [intType], intType, ([a]) => negateInt(a as Int)),
  ),
]

type List = readonly CelValue[] | ListView

/** `a + b`. Sets add new items only, lists of type map replace items with the same key. */
function addLists(a: List, b: List, tracker: CostTracker): CelValue {
  const size = sizeOf(a) + sizeOf(b)
  if (a instanceof ListView && a.kind.type !== 'atomic') {
    spend(tracker, size * 8)
    return merge(a, b, a.kind)
  }
  spend(tracker, size * 4)
  return [...itemsOf(a), ...itemsOf(b)]
}

const rawOf = (value: CelValue): unknown =>
  value instanceof ObjectView || value instanceof MapView || value instanceof ListView ? value.raw : value

function merge(a: ListView, b: List, kind: ListKind): ListView {
  const keyOf = kind.type === 'map' ? kind.keyOf : scalarKey
  const merged = new Map(a.raw.map(raw => [keyOf(raw), raw]))
  const others = b instanceof ListView ? b.raw : b.map(rawOf)
  for (const raw of others) {
    const key = keyOf(raw)
    if (kind.type === 'map' || !merged.has(key)) merged.set(key, raw)
  }
  return new ListView([...merged.values()], a.adapt, kind)
}
