import type { Expr } from '../syntax/ast.ts'
import { type CelType, sameType } from '../values/type.ts'
import { type Estimate, estimate, product, scaled, sum, union, unknown, unlimited } from './estimatesize.ts'

/** An argument with its estimated size (cel-go's `AstNode`). */
export interface EstimatedNode {
  readonly expr: Expr
  readonly type: CelType
  readonly size?: Estimate
  /** The size of the items of a list. */
  readonly itemSize: Estimate
}

export interface EstimatedCall {
  readonly name: string
  readonly overload: string
  readonly target?: EstimatedNode
  readonly args: readonly EstimatedNode[]
  /** The costs of the arguments. */
  readonly costs: readonly Estimate[]
}

export interface CallEstimate {
  readonly cost: Estimate
  /** The size of the result. */
  readonly size?: Estimate
}

const traversal = 0.1
const regexLength = 0.25

const sizeOf = (node: EstimatedNode | undefined): Estimate => node?.size ?? unknown

/** The estimated cost of an overload, including its arguments. */
export function estimateCall(call: EstimatedCall): CallEstimate {
  const own = byLists(call) ?? byFunction(call) ?? byOverload(call)
  if (own === undefined) return { cost: sum(estimate(1), ...call.costs) }
  return own.alone === true ? own : { ...own, cost: sum(own.cost, ...call.costs) }
}

/** `alone`: the cost includes that of the arguments. */
type Own = CallEstimate & { readonly alone?: boolean }

const scan = (node: EstimatedNode | undefined, factor = 1): Estimate =>
  scaled(sizeOf(node), factor * traversal)

function regexCost(text: EstimatedNode | undefined, regex: EstimatedNode | undefined): Estimate {
  const length = sum(sizeOf(text), estimate(1))
  return product(scaled(length, traversal), scaled(sizeOf(regex), regexLength))
}

/** Functions of lists and sets, whose cost includes the created list. */
function byLists({ overload, target, args }: EstimatedCall): Own | undefined {
  const [first, second] = args
  const size = sizeOf(target)
  if (/^list_.*_sort$/.test(overload)) return sorting(size, overload)
  if (/_sortByAssociatedKeys$/.test(overload)) return sorting(sizeOf(first), overload)
  switch (overload) {
    case 'list_slice':
      return newList(1, estimate(uint(second, size.max) - uint(first, 0)))
    case 'list_flatten':
      return newList(1, size)
    case 'list_flatten_int':
      return newList(uint(first, unlimited), size)
    case 'lists_range':
      return newList(1, estimate(uint(first, unlimited)))
    case 'list_reverse':
      return newList(1, size)
    case 'list_distinct':
      return newList(2, product(size, size))
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return { cost: sum(product(sizeOf(first), sizeOf(second)), estimate(1)) }
    case 'list_sets_equivalent_list':
      return { cost: sum(scaled(product(sizeOf(first), sizeOf(second)), 2), estimate(1)) }
    default:
      return undefined
  }
}

const sorting = (size: Estimate, overload: string): Own =>
  newList(/^list_(string|bytes)_/.test(overload) ? 2 + traversal : 2, product(size, size))

const newList = (factor: number, size: Estimate): Own => ({
  cost: sum(scaled(size, factor), estimate(11)),
  size,
})

/** The value of an argument that is an int literal. */
function uint(node: EstimatedNode | undefined, otherwise: number): number {
  const expr = node?.expr
  if (expr?.kind !== 'literal') return otherwise
  const { value } = expr
  return typeof value === 'number' || typeof value === 'bigint' ? Math.max(0, Number(value)) : otherwise
}

const nominal: ReadonlySet<string> = new Set(
  (
    'serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength ' +
    'family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign ' +
    'asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme ' +
    'getHostname getHost getPort getEscapedPath getQuery'
  ).split(' '),
)

const traversing: ReadonlySet<string> = new Set(['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'])
const parsing: ReadonlySet<string> = new Set(
  'cidr isIP isCIDR quantity isQuantity semver isSemver'.split(' '),
)
const transforming: ReadonlySet<string> = new Set(['lowerAscii', 'upperAscii', 'substring', 'trim'])

/** Functions of Kubernetes. */
function byFunction(call: EstimatedCall): Own | undefined {
  const { name, overload, target, args } = call
  const [first] = args
  if (name === 'check') return { cost: estimate(350_000) }
  if (nominal.has(name)) return { cost: estimate(1) }
  if (traversing.has(name)) return target === undefined ? undefined : traverse(target)
  if (transforming.has(name)) return { cost: scan(target), size: sizeOf(target) }
  if (parsing.has(name)) return { cost: scan(first) }
  switch (name) {
    case 'url':
    case 'jsonpatch.escapeKey':
      return { cost: scan(first), size: sizeOf(first) }
    case 'ip':
      return { cost: overload === 'cidr_ip' ? estimate(1) : scan(first) }
    case 'ip.isCanonical':
      return { cost: scan(first, 2) }
    case 'containsIP':
    case 'containsCIDR':
      return { cost: containment(call) }
    case 'validate':
      return { cost: scaled(scan(first), 128 * regexLength) }
    case '_==_':
      return equality(call)
    default:
      return byText(call)
  }
}

/** Functions of strings. */
function byText({ name, target, args }: EstimatedCall): Own | undefined {
  const [first, second] = args
  const size = sizeOf(target)
  switch (name) {
    case 'replace':
      return { cost: scan(target, 2), size: replaced(size, sizeOf(first), sizeOf(second)) }
    case 'split':
      return { cost: scan(target, 2), size: estimate(0, uint(second, size.max)) }
    case 'join':
      return joined(target, first)
    case 'find':
    case 'findAll':
      return { cost: regexCost(target, first), size: estimate(0, size.max) }
    case 'fieldSelector':
    case 'labelSelector':
      return { cost: sum(estimate(10), scan(first), scaled(scaled(sizeOf(first), 0.5), 50)) }
    default:
      return undefined
  }
}

function traverse(target: EstimatedNode): Own {
  const [item] = target.type.params
  if (item === undefined) return { cost: scan(target) }
  const isText = item.kind === 'string' || item.kind === 'bytes'
  const each = isText ? sum(estimate(1), scaled(target.itemSize, traversal)) : estimate(1)
  return { cost: product(sizeOf(target), each) }
}

/** The size of the result of `replace`. */
function replaced(text: Estimate, old: Estimate, by: Estimate): Estimate {
  const most = mostReplaced(text, old, by)
  const least = leastReplaced(text, old, by)
  return sum(product(estimate(least[0], most[0]), by), estimate(least[1], most[1]))
}

/** The number of replacements, and the size of the rest. */
function mostReplaced(text: Estimate, old: Estimate, by: Estimate): readonly [number, number] {
  if (old.min === 0) return [text.max < unlimited ? text.max + 1 : text.max, text.max]
  return by.max <= old.min ? [0, text.max] : [Math.ceil(text.max / old.min), 0]
}

function leastReplaced(text: Estimate, old: Estimate, by: Estimate): readonly [number, number] {
  if (old.max === 0) return [text.min < unlimited ? text.min + 1 : text.min, text.min]
  return old.max <= by.min ? [0, text.min] : [Math.ceil(text.min / old.max), 0]
}

function joined(target: EstimatedNode | undefined, separator: EstimatedNode | undefined): Own {
  const count = sizeOf(target)
  const items = product(count, target?.itemSize ?? unknown)
  const between = estimate(Math.max(0, count.min - 1), Math.max(0, count.max - 1))
  const size = separator === undefined ? items : sum(items, product(sizeOf(separator), between))
  return { cost: scaled(size, traversal), size }
}

function containment({ name, overload, args }: EstimatedCall): Estimate {
  const bytes = estimate(4, 16)
  const base = scaled(sum(bytes, bytes), traversal)
  const masked = name === 'containsCIDR' ? sum(scaled(bytes, traversal), estimate(1)) : estimate(0)
  return overload.endsWith('_string') ? sum(base, masked, scan(args[0])) : sum(base, masked)
}

/** Opaque values are compared at fixed cost. */
function equality({ args }: EstimatedCall): Own | undefined {
  const [a, b] = args
  if (a === undefined || b === undefined || a.type.kind !== 'opaque' || !sameType(a.type, b.type))
    return undefined
  if (a.type.name === 'kubernetes.NamedFormat') return { cost: scaled(estimate(1, 64), traversal) }
  if (a.type.name === 'kubernetes.URL') return { cost: scaled(estimate(1, b.size?.max ?? 1), traversal) }
  return a.type.name === 'optional_type' ? undefined : { cost: estimate(1) }
}

const ordering = /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/

function byOverload({ overload, target, args, costs }: EstimatedCall): Own | undefined {
  const [first, second, third] = args
  if (ordering.test(overload) || overload === 'equals' || overload === 'not_equals')
    return { cost: smaller(sizeOf(first), sizeOf(second)) }
  switch (overload) {
    case 'string_format':
      return { cost: scan(target) }
    case 'string_to_bytes':
      return { cost: scan(first), size: estimate(sizeOf(first).min, sizeOf(first).max * 4) }
    case 'bytes_to_string':
      return { cost: scan(first), size: estimate(Math.trunc(sizeOf(first).min / 4), sizeOf(first).max) }
    case 'strings_quote':
      return undefined
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: scan(first) }
    case 'in_list':
      return { cost: sizeOf(second) }
    case 'matches_string':
      return { cost: regexCost(target, first) }
    case 'matches':
      return { cost: regexCost(first, second) }
    case 'contains_string':
      return { cost: product(scan(target), scan(first)) }
    case 'logic':
      return { cost: estimate(costs[0]?.min ?? 0, sum(...costs).max), alone: true }
    case 'conditional':
      return conditional(costs, union(sizeOf(second), sizeOf(third)))
    case 'add_string':
    case 'add_bytes':
    case 'add_list':
      return addition(overload, sum(sizeOf(first), sizeOf(second)))
    default:
      return undefined
  }
}

function conditional([test, yes, no]: readonly Estimate[], size: Estimate): Own {
  const branches = union(yes ?? estimate(0), no ?? estimate(0))
  return { cost: sum(test ?? estimate(0), branches), size, alone: true }
}

const addition = (overload: string, size: Estimate): Own => ({
  cost: overload === 'add_list' ? estimate(1) : scaled(size, traversal),
  size,
})

function smaller(a: Estimate, b: Estimate): Estimate {
  const max = Math.min(a.max, b.max)
  return scaled(estimate(max > 0 ? 1 : 0, max), traversal)
}
