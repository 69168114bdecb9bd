import { isObject, type JsonObject, memberOf } from '../../framework/json/values.ts'
import { type FilterOperator, type JsonPathNode, type JsonPathNodes, parsePath } from './parser.ts'

/** What can still be read of an object. */
export interface JsonPathMeter {
  /** Values that are visited. */
  left: number
  /** Characters of the texts of values. */
  characters: number
}

/** Enough for real objects, and little for a server that builds a table of thousands of objects. */
export const meterOf = (): JsonPathMeter => ({ left: 10_000, characters: 128 * 1024 })

/**
 * The values that a path selects in an object, in order. Selects nothing if the evaluation fails or visits more values
 * than the meter allows: consecutive unions and wildcards multiply.
 */
export type JsonPath = (object: unknown, meter?: JsonPathMeter) => readonly unknown[]

/**
 * Compiles a JSONPath of Kubernetes (rules.md 7.53), without braces. Throws `JsonPathError`. Missing keys, an index
 * beyond its list and a filter on a value that is not a list select nothing.
 */
export function jsonPath(expression: string): JsonPath {
  const nodes = parsePath(expression)
  return (object, meter = meterOf()) => {
    const found = find([object], nodes, meter)
    return meter.left < 0 ? [] : found
  }
}

function find(values: readonly unknown[], nodes: JsonPathNodes, meter: JsonPathMeter): readonly unknown[] {
  let found = values
  for (const node of nodes) {
    meter.left -= found.length
    if (meter.left < 0) return []
    found = step(found, node, meter)
  }
  meter.left -= found.length
  return found
}

function step(values: readonly unknown[], node: JsonPathNode, meter: JsonPathMeter): readonly unknown[] {
  switch (node.type) {
    case 'field':
      return values.map(value => memberOf(value, node.name)).filter(value => value !== undefined)
    case 'wildcard':
      return inside(values, contents, meter)
    case 'descent':
      return descend(values, meter)
    case 'index':
      return values.flatMap(value => (Array.isArray(value) ? itemAt(value, node.index) : []))
    case 'slice':
      return inside(values, value => (Array.isArray(value) ? slice(value, node) : []), meter)
    case 'union':
      return node.parts.flatMap(part => find(values, part, meter))
    case 'filter':
      return values.flatMap(value => (Array.isArray(value) ? passing(value, node, meter) : []))
    case 'literal':
      return values.map(() => node.value)
  }
}

const contents = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value as JsonObject) : []

/** The contents of the values, within the limit of the meter. */
function inside(
  values: readonly unknown[],
  of: (value: unknown) => readonly unknown[],
  meter: JsonPathMeter,
): readonly unknown[] {
  const found: unknown[] = []
  for (const value of values) {
    const more = of(value)
    meter.left -= more.length
    if (meter.left < 0) return []
    for (const each of more) found.push(each)
  }
  return found
}

/** Each object and list, before its contents. */
function descend(values: readonly unknown[], meter: JsonPathMeter): readonly unknown[] {
  const found: unknown[] = []
  const pending = [...values].reverse()
  while (pending.length > 0) {
    const value = pending.pop()
    const more = contents(value)
    meter.left -= more.length
    if (meter.left < 0) return []
    if (more.length > 0) found.push(value)
    for (let i = more.length - 1; i >= 0; i--) pending.push(more[i])
  }
  return found
}

function itemAt(list: readonly unknown[], index: number): readonly unknown[] {
  const at = index < 0 ? index + list.length : index
  return at >= 0 && at < list.length ? [list[at]] : []
}

function slice(
  list: readonly unknown[],
  node: JsonPathNode & { readonly type: 'slice' },
): readonly unknown[] {
  const start = node.from ?? 0
  const end = node.to ?? list.length
  const from = start < 0 ? start + list.length : start
  const to = end < 0 ? end + list.length : end
  const increment = node.step ?? 1
  if (from < 0 || to > list.length || from > to || increment <= 0) return []
  const found: unknown[] = []
  for (let i = from; i < to; i += increment) found.push(list[i])
  return found
}

type Filter = JsonPathNode & { readonly type: 'filter' }

function passing(list: readonly unknown[], filter: Filter, meter: JsonPathMeter): readonly unknown[] {
  meter.left -= list.length
  return meter.left < 0 ? [] : list.filter(item => passes(item, filter, meter))
}

function passes(item: unknown, filter: Filter, meter: JsonPathMeter): boolean {
  const lefts = find([item], filter.left, meter)
  if (filter.operator === 'exists') return lefts.length > 0
  const rights = find([item], filter.right, meter)
  return lefts.length === 1 && rights.length === 1 && compare(lefts[0], filter.operator, rights[0])
}

type Scalar = string | number | bigint | boolean

const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
const isNumeric = (value: Scalar): boolean => typeof value === 'number' || typeof value === 'bigint'

/** Only scalars of the same kind can be compared, booleans only for equality. */
function compare(left: unknown, operator: FilterOperator, right: unknown): boolean {
  if (!isScalar(left) || !isScalar(right)) return false
  if (isNumeric(left) ? !isNumeric(right) : typeof left !== typeof right) return false
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the same number
  const equal = left == right
  if (operator === '==') return equal
  if (operator === '!=') return !equal
  if (typeof left === 'boolean') return false
  if (equal) return operator === '<=' || operator === '>='
  return left < right ? operator.startsWith('<') : operator.startsWith('>')
}
