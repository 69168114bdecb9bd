import { compareValues, equalValues } from '../values/compare.ts'
import { CostExceeded, type CostTracker, spend, willRead } from '../values/costtracker.ts'
import {
  declare,
  type FunctionDecl,
  type FunctionOp,
  member,
  type Overload,
  overload,
} from '../values/declaration.ts'
import { addInts, type Int } from '../values/int.ts'
import { kindOf } from '../values/kind.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  optionalOf,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../values/type.ts'
import {
  CelDuration,
  CelError,
  type CelValue,
  Double,
  isList,
  itemAt,
  itemsOf,
  type ListView,
  noSuchOverload,
  Optional,
  sizeOf,
  Uint,
} from '../values/value.ts'
import { arithmetic } from './arithmetic.ts'
import { contains } from './operators.ts'

type List = readonly CelValue[] | ListView

const comparable: readonly (readonly [string, CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
]

const forEach = (
  types: readonly (readonly [string, CelType])[],
  make: (name: string, type: CelType) => Overload,
): readonly Overload[] => types.map(([name, type]) => make(name, type))

const isSorted: FunctionOp = ([list]) => {
  let previous: CelValue | undefined
  for (const item of itemsOf(list as List)) {
    const order = previous === undefined ? -1 : compareValues(previous, item)
    if (order === undefined) return noSuchOverload
    if (order > 0) return false
    previous = item
  }
  return true
}

/** The largest item when `sign` is 1, the smallest when it is -1. */
const extreme =
  (name: string, sign: number): FunctionOp =>
  ([list]) => {
    let best: CelValue | undefined
    for (const item of itemsOf(list as List)) {
      const order = best === undefined ? sign : compareValues(item, best)
      if (order === undefined) return noSuchOverload
      if (order === sign) best = item
    }
    return best ?? new CelError(`${name} called on empty list`)
  }

const add = arithmetic.find(({ name }) => name === '_+_')?.overloads ?? []

const sum =
  (zero: CelValue, id: string): FunctionOp =>
  ([list], tracker) => {
    const run = add.find(one => one.id === id)?.run
    let total = zero
    for (const item of itemsOf(list as List)) {
      if (kindOf(item) !== kindOf(zero)) return noSuchOverload
      total = run === undefined ? addInts(total as Int, item as Int) : run([total, item], tracker)
      if (total instanceof CelError) return total
    }
    return total
  }

const indexOf: FunctionOp = ([list, wanted = null], tracker) => {
  let index = 0
  for (const item of itemsOf(list as List)) {
    if (equalValues(item, wanted, tracker)) return index
    index++
  }
  return -1
}

const lastIndexOf: FunctionOp = ([list, wanted = null], tracker) => {
  for (let i = sizeOf(list as List) - 1; i >= 0; i--)
    if (equalValues(itemAt(list as List, i), wanted, tracker)) return i
  return -1
}

const slice: FunctionOp = ([list, start, end], tracker) => {
  const [from, to] = [Number(start), Number(end)]
  const length = sizeOf(list as List)
  const wrong = (why: string): CelError => new CelError(`cannot slice(${start}, ${end}), ${why}`)
  if (from < 0 || to < 0) return wrong('negative indexes not supported')
  if (from > to) return wrong('start index must be less than or equal to end index')
  if (length < to) return wrong(`list is length ${length}`)
  willRead(to - from, tracker)
  return Array.from({ length: to - from }, (_, i) => itemAt(list as List, from + i))
}

function flattened(list: List, depth: number, tracker: CostTracker): CelValue[] {
  // The list can be many times as long as those that it has.
  spend(tracker, sizeOf(list) * 8)
  const items: CelValue[] = []
  for (const item of itemsOf(list)) {
    if (depth === 0 || !isList(item)) items.push(item)
    else for (const inner of flattened(item, depth - 1, tracker)) items.push(inner)
  }
  return items
}

const flatten: FunctionOp = ([list, depth = 1], tracker) =>
  (depth as Int) < 0
    ? new CelError('level must be non-negative')
    : flattened(list as List, Number(depth), tracker)

/** Items in the order of their keys. */
function sorted(list: List, keys: List): CelValue {
  if (sizeOf(list) !== sizeOf(keys)) return noSuchOverload
  const keyed = [...itemsOf(keys)].map((key, i) => [key, itemAt(list, i)] as const)
  const [first] = keyed
  if (first === undefined) return []
  const kind = kindOf(first[0])
  if (keyed.some(([key]) => kindOf(key) !== kind))
    return new CelError('list elements must have the same type')
  return keyed.sort(([a], [b]) => compareValues(a, b) ?? 0).map(([, item]) => item)
}

const range: FunctionOp = ([size], { cost, limit }) => {
  const count = Number(size)
  if (count < 0) return new CelError(`lists.range: size must be non-negative, got ${size}`)
  // Each item costs 1.
  if (cost + count > limit) throw new CostExceeded()
  return Array.from({ length: count }, (_, i) => i)
}

const reverse: FunctionOp = ([list], tracker) => {
  willRead(sizeOf(list as List), tracker)
  return [...itemsOf(list as List)].reverse()
}

const distinct: FunctionOp = ([list], tracker) => {
  const found: CelValue[] = []
  for (const item of itemsOf(list as List))
    if (!found.some(other => equalValues(item, other, tracker))) found.push(item)
  return found
}

const end =
  (index: 0 | -1): FunctionOp =>
  ([list]) => {
    const size = sizeOf(list as List)
    return size === 0 ? Optional.none : Optional.of(itemAt(list as List, index === 0 ? 0 : size - 1))
  }

const t = paramType('T')
const listOfT = listOf(t)

export const lists: readonly FunctionDecl[] = [
  declare(
    'isSorted',
    ...forEach(comparable, (name, type) =>
      member(`list_${name}_is_sorted_bool`, [listOf(type)], boolType, isSorted),
    ),
  ),
  declare(
    'sum',
    member('list_int_sum_int', [listOf(intType)], intType, sum(0, 'add_int64')),
    member('list_uint_sum_uint', [listOf(uintType)], uintType, sum(new Uint(0n), 'add_uint64')),
    member('list_double_sum_double', [listOf(doubleType)], doubleType, sum(new Double(0), 'add_double')),
    member(
      'list_duration_sum_duration',
      [listOf(durationType)],
      durationType,
      sum(new CelDuration(0n), 'add_duration_duration'),
    ),
  ),
  declare(
    'max',
    ...forEach(comparable, (name, type) =>
      member(`list_${name}_max_${name}`, [listOf(type)], type, extreme('max', 1)),
    ),
  ),
  declare(
    'min',
    ...forEach(comparable, (name, type) =>
      member(`list_${name}_min_${name}`, [listOf(type)], type, extreme('min', -1)),
    ),
  ),
  declare('indexOf', member('list_a_index_of_int', [listOfT, t], intType, indexOf)),
  declare('lastIndexOf', member('list_a_last_index_of_int', [listOfT, t], intType, lastIndexOf)),
  declare('slice', member('list_slice', [listOfT, intType, intType], listOfT, slice)),
  declare(
    'flatten',
    member('list_flatten', [listOf(listOfT)], listOfT, flatten),
    member('list_flatten_int', [listOf(dynType), intType], listOf(dynType), flatten),
  ),
  declare(
    'sort',
    ...forEach(comparable, (_name, type) =>
      member(`list_${type.name}_sort`, [listOf(type)], listOf(type), ([list]) =>
        sorted(list as List, list as List),
      ),
    ),
  ),
  declare(
    '@sortByAssociatedKeys',
    ...forEach(comparable, (_name, type) =>
      member(`list_${type.name}_sortByAssociatedKeys`, [listOfT, listOf(type)], listOfT, ([list, keys]) =>
        sorted(list as List, keys as List),
      ),
    ),
  ),
  declare('lists.range', overload('lists_range', [intType], listOf(intType), range)),
  declare('reverse', member('list_reverse', [listOfT], listOfT, reverse)),
  declare('distinct', member('list_distinct', [listOfT], listOfT, distinct)),
  declare('first', member('list_first', [listOfT], optionalOf(t), end(0))),
  declare('last', member('list_last', [listOfT], optionalOf(t), end(-1))),
]

function containsAll(list: List, sublist: List, tracker: CostTracker): boolean {
  for (const item of itemsOf(sublist)) if (!contains(list, item, tracker)) return false
  return true
}

const intersects: FunctionOp = ([a, b], tracker) => {
  for (const item of itemsOf(a as List)) if (contains(b as List, item, tracker)) return true
  return false
}

const list = listOf(paramType('T'))

export const sets: readonly FunctionDecl[] = [
  declare(
    'sets.contains',
    overload('list_sets_contains_list', [list, list], boolType, ([a, b], tracker) =>
      containsAll(a as List, b as List, tracker),
    ),
  ),
  declare(
    'sets.equivalent',
    overload(
      'list_sets_equivalent_list',
      [list, list],
      boolType,
      ([a, b], tracker) =>
        containsAll(a as List, b as List, tracker) && containsAll(b as List, a as List, tracker),
    ),
  ),
  declare('sets.intersects', overload('list_sets_intersects_list', [list, list], boolType, intersects)),
]
