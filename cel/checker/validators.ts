import { patternError } from '../../framework/formats/pattern.ts'
import { clauseKinds, clausesOf } from '../library/stringformat.ts'
import type { CallExpr, Expr, ListExpr, MapExpr } from '../syntax/ast.ts'
import type { Issue } from '../syntax/source.ts'
import { parseDuration, parseTimestamp } from '../values/time.ts'
import { type CelType, dynType, paramOf, sameType, typeText } from '../values/type.ts'
import type { CheckedExpr } from './checker.ts'

/** Issues of the AST validators of cel-go: homogeneous aggregates, and duration, timestamp, regex and format literals. */
export function literalIssues(checked: CheckedExpr): readonly Issue[] {
  const issues: Issue[] = []
  walk(checked, checked.expr, false, issues)
  return issues
}

function walk(checked: CheckedExpr, expr: Expr, inFormat: boolean, issues: Issue[]): void {
  if (expr.kind === 'list' && !inFormat) issues.push(...listIssues(checked, expr))
  if (expr.kind === 'map' && !inFormat) issues.push(...mapIssues(checked, expr))
  if (expr.kind === 'call') issues.push(...callIssues(checked, expr))
  const inside = inFormat || (expr.kind === 'call' && expr.name === 'format')
  for (const child of childrenOf(expr)) walk(checked, child, inside, issues)
}

function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'list':
      return expr.elements.map(({ value }) => value)
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
    default:
      return []
  }
}

const typeOf = ({ types }: CheckedExpr, expr: Expr, optional = false): CelType => {
  const type = types.get(expr) ?? dynType
  return optional ? paramOf(type) : type
}

const mismatch = (at: number, expected: CelType, found: CelType): Issue => ({
  at,
  message: `expected type '${typeText(expected)}' but found '${typeText(found)}'`,
})

/** The items of a list must have one type. */
function listIssues(checked: CheckedExpr, { elements: [first, ...others] }: ListExpr): readonly Issue[] {
  if (first === undefined) return []
  const type = typeOf(checked, first.value, first.optional)
  const other = others.find(({ value, optional }) => !sameType(type, typeOf(checked, value, optional)))
  if (other === undefined) return []
  return [mismatch(other.value.at, type, typeOf(checked, other.value, other.optional))]
}

/** The keys of a map must have one type, and its values too. */
function mapIssues(checked: CheckedExpr, { entries: [first, ...others] }: MapExpr): readonly Issue[] {
  if (first === undefined) return []
  const keys = typeOf(checked, first.key)
  const values = typeOf(checked, first.value, first.optional)
  return others.flatMap(({ key, value, optional }) => {
    const [keyType, valueType] = [typeOf(checked, key), typeOf(checked, value, optional)]
    return [
      ...(sameType(keys, keyType) ? [] : [mismatch(key.at, keys, keyType)]),
      ...(sameType(values, valueType) ? [] : [mismatch(value.at, values, valueType)]),
    ]
  })
}

function callIssues(checked: CheckedExpr, call: CallExpr): readonly Issue[] {
  switch (call.name) {
    case 'duration':
      return textIssues(call.args[0], text => (parseDuration(text) ? undefined : 'invalid duration argument'))
    case 'timestamp':
      return textIssues(call.args[0], text =>
        parseTimestamp(text) ? undefined : 'invalid timestamp argument',
      )
    case 'matches':
      return textIssues(call.args.at(-1), text =>
        patternError(text) ? 'invalid matches argument' : undefined,
      )
    case 'format':
      return formatIssues(checked, call)
    default:
      return []
  }
}

function textIssues(
  expr: Expr | undefined,
  problemOf: (text: string) => string | undefined,
): readonly Issue[] {
  if (expr?.kind !== 'literal' || typeof expr.value !== 'string') return []
  const message = problemOf(expr.value)
  return message === undefined ? [] : [{ at: expr.at, message }]
}

/** Checks a literal format string against the list of its arguments. */
function formatIssues(checked: CheckedExpr, { at, target, args }: CallExpr): readonly Issue[] {
  const [list] = args
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return []
  const clauses = clausesOf(target.value)
  const values = list.elements.map(({ value }) => value)
  const where = at
  if (typeof clauses === 'string') return [{ at: where, message: clauses }]
  for (const [i, letter] of clauses.entries()) {
    const value = values[i]
    if (value === undefined) return [{ at: where, message: `index ${i} out of range` }]
    const { kind, name } = typeOf(checked, value)
    const [kinds, problem] = clauseKinds[letter] ?? []
    if (kinds === undefined || kind === 'dyn' || kinds.split(' ').includes(kind)) continue
    return [{ at: value.at, message: `error during formatting: ${problem}, was given ${name}` }]
  }
  if (values.length <= clauses.length) return []
  const counts = `(expected ${clauses.length}, got ${values.length})`
  return [{ at: where, message: `too many arguments supplied to string.format ${counts}` }]
}
