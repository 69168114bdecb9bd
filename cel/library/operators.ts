import { codePoints } from '../../framework/json/values.ts'
import { compareValues, equalValues } from '../values/compare.ts'
import type { CostTracker } from '../values/costtracker.ts'
import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  optionalOf,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../values/type.ts'
import {
  type CelValue,
  isList,
  isMap,
  itemsOf,
  type ListView,
  type MapValue,
  noSuchOverload,
  sizeOf,
} from '../values/value.ts'

const a = paramType('A')
const b = paramType('B')
const listOfA = listOf(a)
const mapOfAB = mapOf(a, b)

/** Planned without a call: these do not evaluate all arguments, or are attributes. */
export const plannedSpecially: FunctionOp = () => noSuchOverload

export function contains(
  list: readonly CelValue[] | ListView,
  value: CelValue,
  tracker: CostTracker,
): boolean {
  for (const item of itemsOf(list)) if (equalValues(item, value, tracker)) return true
  return false
}

/** The size of a string in code points, of other values in items or bytes; undefined for values without a size. */
export function sizeOfValue(value: CelValue): number | undefined {
  if (typeof value === 'string') return codePoints(value)
  if (value instanceof Uint8Array) return value.length
  if (isList(value)) return sizeOf(value)
  return isMap(value) ? value.size : undefined
}

const size: FunctionOp = ([value = null]) => sizeOfValue(value) ?? noSuchOverload

export const logic: readonly FunctionDecl[] = [
  declare('_?_:_', overload('conditional', [boolType, a, a], a, plannedSpecially)),
  declare('_&&_', overload('logical_and', [boolType, boolType], boolType, plannedSpecially)),
  declare('_||_', overload('logical_or', [boolType, boolType], boolType, plannedSpecially)),
  declare(
    '!_',
    overload('logical_not', [boolType], boolType, ([value]) => value === false),
  ),
  declare('@not_strictly_false', overload('not_strictly_false', [boolType], boolType, plannedSpecially)),
  declare(
    '_[_]',
    overload('index_list', [listOfA, intType], a, plannedSpecially),
    overload('index_map', [mapOfAB, a], b, plannedSpecially),
    overload('optional_list_index_int', [optionalOf(listOfA), intType], optionalOf(a), plannedSpecially),
    overload('optional_map_index_value', [optionalOf(mapOfAB), a], optionalOf(b), plannedSpecially),
  ),
  declare(
    '_[?_]',
    overload('list_optindex_optional_int', [listOfA, intType], optionalOf(a), plannedSpecially),
    overload(
      'optional_list_optindex_optional_int',
      [optionalOf(listOfA), intType],
      optionalOf(a),
      plannedSpecially,
    ),
    overload('map_optindex_optional_value', [mapOfAB, a], optionalOf(b), plannedSpecially),
    overload(
      'optional_map_optindex_optional_value',
      [optionalOf(mapOfAB), a],
      optionalOf(b),
      plannedSpecially,
    ),
  ),
  declare('_?._', overload('select_optional_field', [dynType, stringType], optionalOf(a), plannedSpecially)),
  declare(
    '@in',
    overload('in_list', [a, listOfA], boolType, ([value = null, list], tracker) =>
      contains(list as readonly CelValue[] | ListView, value, tracker),
    ),
    overload(
      'in_map',
      [a, mapOfAB],
      boolType,
      ([key = null, map]) => (map as MapValue).get(key) !== undefined,
    ),
  ),
  declare(
    'size',
    overload('size_bytes', [bytesType], intType, size),
    overload('size_list', [listOfA], intType, size),
    overload('size_map', [mapOfAB], intType, size),
    overload('size_string', [stringType], intType, size),
    member('bytes_size', [bytesType], intType, size),
    member('list_size', [listOfA], intType, size),
    member('map_size', [mapOfAB], intType, size),
    member('string_size', [stringType], intType, size),
  ),
]

/** Pairs of ordered types, with the suffix of their overloads. */
const ordered: readonly (readonly [string, CelType, CelType])[] = [
  ['bool', boolType, boolType],
  ['int64', intType, intType],
  ['int64_double', intType, doubleType],
  ['int64_uint64', intType, uintType],
  ['uint64', uintType, uintType],
  ['uint64_double', uintType, doubleType],
  ['uint64_int64', uintType, intType],
  ['double', doubleType, doubleType],
  ['double_int64', doubleType, intType],
  ['double_uint64', doubleType, uintType],
  ['string', stringType, stringType],
  ['bytes', bytesType, bytesType],
  ['timestamp', timestampType, timestampType],
  ['duration', durationType, durationType],
]

function comparison(name: string, prefix: string, holds: (order: number) => boolean): FunctionDecl {
  const run: FunctionOp = ([a = null, b = null]) => {
    const order = compareValues(a, b)
    return order === undefined ? noSuchOverload : holds(order)
  }
  return declare(
    name,
    ...ordered.map(([suffix, a, b]) => overload(`${prefix}_${suffix}`, [a, b], boolType, run)),
  )
}

const equality: FunctionOp = ([x = null, y = null], tracker): CelValue => equalValues(x, y, tracker)

export const comparisons: readonly FunctionDecl[] = [
  comparison('_<_', 'less', order => order < 0),
  comparison('_<=_', 'less_equals', order => order <= 0),
  comparison('_>_', 'greater', order => order > 0),
  comparison('_>=_', 'greater_equals', order => order >= 0),
  declare('_==_', overload('equals', [a, a], boolType, equality)),
  declare(
    '_!=_',
    overload('not_equals', [a, a], boolType, (args, tracker) => equality(args, tracker) !== true),
  ),
]
