import { declare, type FunctionDecl, type FunctionOp, member, overload } from '../values/declaration.ts'
import { LiteralMap } from '../values/maps.ts'
import { boolType, listOf, mapOf, optionalOf, paramType } from '../values/type.ts'
import {
  CelDuration,
  CelError,
  type CelValue,
  Double,
  isList,
  isMap,
  itemsOf,
  type ListView,
  type MapValue,
  noSuchOverload,
  Optional,
  sizeOf,
  Uint,
} from '../values/value.ts'
import { plannedSpecially } from './operators.ts'

const v = paramType('V')
const k = paramType('K')
const optionalV = optionalOf(v)
const mapKV = mapOf(k, v)

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0) return true
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof CelDuration) return value.nanos === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof Optional) return value.value === undefined
  return (isList(value) && sizeOf(value) === 0) || (isMap(value) && value.size === 0)
}

const unwrap: FunctionOp = ([list]) => {
  const values: CelValue[] = []
  for (const item of itemsOf(list as readonly CelValue[] | ListView)) {
    if (!(item instanceof Optional)) return noSuchOverload
    if (item.value !== undefined) values.push(item.value)
  }
  return values
}

const dereference = new CelError('optional.none() dereference')

/** A copy of the map: values that an expression can access never change. */
const owned = (map: CelValue): LiteralMap =>
  map instanceof LiteralMap ? map.copy() : LiteralMap.empty.copy()

const insert: FunctionOp = ([map = null, key = null, value = null]) => {
  const next = owned(map)
  return next.insert(key, value) ?? next
}

/** Adds the entries of a map to `map` in place; an error for a key that exists. */
export function insertAll(map: LiteralMap, entries: MapValue): CelValue {
  for (const key of entries.keys()) {
    const problem = map.insert(key, entries.get(key) ?? null)
    if (problem !== undefined) return problem
  }
  return map
}

export const optionals: readonly FunctionDecl[] = [
  declare(
    'optional.of',
    overload('optional_of', [v], optionalV, ([value = null]) => Optional.of(value)),
  ),
  declare(
    'optional.ofNonZeroValue',
    overload('optional_ofNonZeroValue', [v], optionalV, ([value = null]) =>
      isZero(value) ? Optional.none : Optional.of(value),
    ),
  ),
  declare(
    'optional.none',
    overload('optional_none', [], optionalV, () => Optional.none),
  ),
  declare(
    'value',
    member('optional_value', [optionalV], v, ([optional]) => (optional as Optional).value ?? dereference),
  ),
  declare(
    'hasValue',
    member(
      'optional_hasValue',
      [optionalV],
      boolType,
      ([optional]) => (optional as Optional).value !== undefined,
    ),
  ),
  declare('or', member('optional_or_optional', [optionalV, optionalV], optionalV, plannedSpecially)),
  declare('orValue', member('optional_orValue_value', [optionalV, v], v, plannedSpecially)),
  declare('optional.unwrap', overload('optional_unwrap', [listOf(optionalV)], listOf(v), unwrap)),
  declare('unwrapOpt', member('optional_unwrapOpt', [listOf(optionalV)], listOf(v), unwrap)),
  declare(
    'cel.@mapInsert',
    overload('@mapInsert_map_key_value', [mapKV, k, v], mapKV, insert),
    overload('@mapInsert_map_map', [mapKV, mapKV], mapKV, ([map = null, entries]) =>
      insertAll(owned(map), entries as MapValue),
    ),
  ),
]
