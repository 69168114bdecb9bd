import { NamedFormat } from '../library/namedformat.ts'
import { sizeOfValue } from '../library/operators.ts'
import { type CostTracker, willRead } from '../values/costtracker.ts'
import {
  CelError,
  type CelValue,
  isList,
  isMap,
  isOpaque,
  itemAt,
  itemsOf,
  type ListView,
  Optional,
  sizeOf,
} from '../values/value.ts'

/** The cost of a call, from its arguments (the target first) and its result. */
export type CallCost = (args: readonly CelValue[], result: CelValue, tracker: CostTracker) => number

const traversal = 0.1
const regexLength = 0.25
const newList = 10

/** The size of a value for costs; 1 for values without a size. */
function actualSize(value: CelValue): number {
  if (value instanceof Optional) return value.value === undefined ? 1 : actualSize(value.value)
  if (typeof value === 'object' && value !== null && isOpaque(value)) return value.size ?? 1
  return value instanceof CelError ? 1 : (sizeOfValue(value) ?? 1)
}

const sizeAt = (args: readonly CelValue[], index: number): number => actualSize(args[index] ?? null)

/** The floating-point result must be that of Go: 70 * 0.1 is slightly more than 7, and costs 8. */
const ceil = (size: number): number => Math.ceil(size * traversal)

const fixed =
  (cost: number): CallCost =>
  () =>
    cost

/** In proportion to an argument. */
const scan =
  (index: number, times = 1): CallCost =>
  args =>
    ceil(sizeAt(args, index) * times)

const smaller: CallCost = args => ceil(Math.min(sizeAt(args, 0), sizeAt(args, 1)))
const both: CallCost = args => ceil(sizeAt(args, 0) + sizeAt(args, 1))

const regexCost = (text: number, regex: number): number => ceil(1 + text) * Math.ceil(regex * regexLength)
const regex: CallCost = args => regexCost(sizeAt(args, 0), sizeAt(args, 1))

const search: CallCost = args => ceil(sizeAt(args, 0)) * ceil(sizeAt(args, 1))

function traversalCost(value: CelValue, tracker: CostTracker): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * traversal)
  if (value instanceof Uint8Array) return Math.floor(value.length * traversal)
  if (isList(value)) {
    willRead(sizeOf(value), tracker)
    let cost = 0
    for (const item of itemsOf(value)) cost += traversalCost(item, tracker)
    return cost
  }
  if (!isMap(value)) return 1
  willRead(value.size, tracker)
  const of = (each: CelValue): number => traversalCost(each, tracker)
  return value.keys().reduce<number>((sum, key) => sum + of(key) + of(value.get(key) ?? null), 0)
}

const traverse: CallCost = ([value = null], _result, tracker) => traversalCost(value, tracker)

const resultList: CallCost = (_args, result) => actualSize(result) + 1 + newList
const joined: CallCost = (_args, result) => ceil(2 * actualSize(result))

/** Whether a cost can be known only after the call. All others are charged before the work is done. */
export const isCostOfResult = (cost: CallCost): boolean => cost === resultList || cost === joined

/** Compares each item of a list with every other item. */
const selfCompare =
  (index: number): CallCost =>
  args => {
    const list = args[index] as readonly CelValue[] | ListView
    if (!isList(list)) return 1
    const size = sizeAt(args, index)
    const first = size === 0 ? null : itemAt(list, 0)
    const factor = typeof first === 'string' || first instanceof Uint8Array ? 2 + traversal : 2
    return Math.floor(size * size * factor) + 1 + newList
  }

const sets =
  (factor: number): CallCost =>
  args =>
    1 + Math.floor(sizeAt(args, 0) * sizeAt(args, 1) * factor)

const containsIp: CallCost = args => ceil(2 * sizeAt(args, 0))
const containsCidr: CallCost = args => ceil(2 * sizeAt(args, 0)) + ceil(sizeAt(args, 0)) + 1

/** The cost of a function that parses its first argument. */
const parsing =
  (cost: CallCost): CallCost =>
  (args, result, tracker) =>
    cost(args, result, tracker) + ceil(sizeAt(args, 1))

const validate: CallCost = ([format, text = null]) =>
  format instanceof NamedFormat ? regexCost(actualSize(text), format.maxRegexSize) : 1

/** Costs by function, for all overloads. */
const byFunction: Readonly<Record<string, CallCost>> = {
  check: fixed(350_000),
  isSorted: traverse,
  sum: traverse,
  max: traverse,
  min: traverse,
  indexOf: traverse,
  lastIndexOf: traverse,
  url: scan(0),
  lowerAscii: scan(0),
  upperAscii: scan(0),
  substring: scan(0),
  trim: scan(0),
  'jsonpatch.escapeKey': scan(0),
  replace: scan(0, 2),
  split: scan(0, 2),
  join: joined,
  find: regex,
  findAll: regex,
  cidr: scan(0),
  isIP: scan(0),
  isCIDR: scan(0),
  'ip.isCanonical': scan(0, 2),
  quantity: scan(0),
  isQuantity: scan(0),
  semver: scan(0),
  isSemver: scan(0),
  validate,
}

/** Costs by overload, if the call resolves to one. */
const byOverload: Readonly<Record<string, CallCost>> = {
  cidr_ip: fixed(1),
  string_to_ip: scan(0),
  cidr_contains_ip_string: parsing(containsIp),
  cidr_contains_ip_ip: containsIp,
  cidr_contains_cidr_string: parsing(containsCidr),
  cidr_contains_cidr: containsCidr,
  starts_with_string: scan(1),
  ends_with_string: scan(1),
  string_to_bytes: scan(0),
  bytes_to_string: scan(0),
  string_format: scan(0),
  strings_quote: fixed(1),
  in_list: args => sizeAt(args, 1),
  add_string: both,
  add_bytes: both,
  matches: regex,
  matches_string: regex,
  contains_string: search,
  list_slice: resultList,
  list_flatten: args => sizeAt(args, 0) + 1 + newList,
  list_flatten_int: args => Math.max(0, Number(args[1])) * sizeAt(args, 0) + 1 + newList,
  lists_range: resultList,
  list_reverse: resultList,
  list_distinct: selfCompare(0),
  list_sets_contains_list: sets(1),
  list_sets_intersects_list: sets(1),
  list_sets_equivalent_list: sets(2),
}

const one = fixed(1)

const orders = /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/

/** The cost of a call (rules.md 7.38, `k8s.io/apiserver/pkg/cel/library/cost.go`). */
export function callCost(name: string, overload: string | undefined): CallCost {
  if (overload !== undefined) {
    if (/^list_.*_sort$/.test(overload)) return selfCompare(0)
    if (/_sortByAssociatedKeys$/.test(overload)) return selfCompare(1)
    if (orders.test(overload)) return smaller
    if (Object.hasOwn(byOverload, overload)) return byOverload[overload] ?? one
  }
  return Object.hasOwn(byFunction, name) ? (byFunction[name] ?? one) : one
}

/** The cost of `==` and `!=`; 1 for opaque values. */
export const equalityCost = (a: CelValue, b: CelValue): number => {
  if (typeof a !== 'object' && typeof a !== 'string') return 1
  if (typeof a === 'object' && a !== null && isOpaque(a)) return 1
  return ceil(Math.min(actualSize(a), actualSize(b)))
}
