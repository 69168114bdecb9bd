import { type Fields, isObject, memberOf } from '../json.ts'
import type { Node, Nodes, Operator } from './nodes.ts'
import { parsePath } from './parser.ts'

/** The values that a path finds in an object, in order. What cannot be evaluated finds nothing. */
export type JsonPath = (object: unknown) => readonly unknown[]

/**
 * Compiles a JSONPath of Kubernetes (chapter 40, rule 7.53), without braces. Throws `JsonPathError`. Keys may be
 * missing; an index beyond its list, or a filter on what is no list, finds nothing.
 */
export function jsonPath(expression: string): JsonPath {
  const nodes = parsePath(expression)
  return object => find([object], nodes)
}

/** `..` visits everything; more values than this are not looked at. */
const maxVisits = 100_000

const find = (values: readonly unknown[], nodes: Nodes): readonly unknown[] =>
  nodes.reduce<readonly unknown[]>((found, node) => step(found, node), values)

function step(values: readonly unknown[], node: Node): readonly unknown[] {
  switch (node.type) {
    case 'field':
      return values.map(value => memberOf(value, node.name)).filter(value => value !== undefined)
    case 'wildcard':
      return values.flatMap(contents)
    case 'descent':
      return descend(values)
    case 'index':
      return values.flatMap(value => (Array.isArray(value) ? itemAt(value, node.index) : []))
    case 'slice':
      return values.flatMap(value => (Array.isArray(value) ? slice(value, node) : []))
    case 'union':
      return node.parts.flatMap(part => find(values, part))
    case 'filter':
      return values.flatMap(value => (Array.isArray(value) ? value.filter(item => passes(item, node)) : []))
    case 'literal':
      return values.map(() => node.value)
  }
}

const contents = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value as Fields) : []

/** Each object and list, before what is in it. */
function descend(values: readonly unknown[]): readonly unknown[] {
  const found: unknown[] = []
  const pending = [...values].reverse()
  for (let visits = 0; pending.length > 0 && visits < maxVisits; visits++) {
    const value = pending.pop()
    const inside = contents(value)
    if (inside.length === 0) continue
    found.push(value)
    for (let i = inside.length - 1; i >= 0; i--) pending.push(inside[i])
  }
  return found
}

function itemAt(list: readonly unknown[], index: number): readonly unknown[] {
  const at = index < 0 ? index + list.length : index
  return at >= 0 && at < list.length ? [list[at]] : []
}

function slice(list: readonly unknown[], node: Node & { readonly type: 'slice' }): readonly unknown[] {
  const start = node.from ?? 0
  const end = node.to ?? list.length
  const from = start < 0 ? start + list.length : start
  const to = end < 0 ? end + list.length : end
  const increment = node.step ?? 1
  if (from < 0 || to > list.length || from > to || increment <= 0) return []
  return list.slice(from, to).filter((_, i) => i % increment === 0)
}

function passes(item: unknown, filter: Node & { readonly type: 'filter' }): boolean {
  const lefts = find([item], filter.left)
  if (filter.operator === 'exists') return lefts.length > 0
  const rights = find([item], filter.right)
  return lefts.length === 1 && rights.length === 1 && compare(lefts[0], filter.operator, rights[0])
}

type Scalar = string | number | bigint | boolean

const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
const isNumeric = (value: Scalar): boolean => typeof value === 'number' || typeof value === 'bigint'

/** Only scalars of one kind compare; booleans only for equality. */
function compare(left: unknown, operator: Operator, right: unknown): boolean {
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
