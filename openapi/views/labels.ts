import type { CallExpr, Expr } from '../../cel/syntax/ast.ts'
import { qualifiedNameErrors } from '../../framework/meta/names.ts'
import type { LabelRequirement } from '../../framework/selectors/selectors.ts'

/**
 * The label selector that every object meets for which the expression is true: its parts, joined by `&&`, that compare a label with
 * texts, or test for it.
 */
export function labelsOf(expr: Expr): readonly LabelRequirement[] {
  if (expr.kind === 'select')
    return expr.test && isLabels(expr.operand)
      ? valid({ key: expr.field, operator: 'exists', values: [] })
      : []
  if (expr.kind !== 'call') return []
  const [left, right] = expr.args
  if (left === undefined || right === undefined) return []
  if (expr.name === '_&&_') return [...labelsOf(left), ...labelsOf(right)]
  return valid(requirementOf(expr.name, left, right))
}

function requirementOf(operator: string, left: Expr, right: Expr): LabelRequirement | undefined {
  if (operator === '_==_') return equality(left, right) ?? equality(right, left)
  if (operator !== '@in') return undefined
  const key = textOf(left)
  if (key !== undefined && isLabels(right)) return { key, operator: 'exists', values: [] }
  const [label, values] = [labelOf(left), textsOf(right)]
  return label === undefined || values === undefined ? undefined : { key: label, operator: 'in', values }
}

function equality(left: Expr, right: Expr): LabelRequirement | undefined {
  const [key, value] = [labelOf(left), textOf(right)]
  return key === undefined || value === undefined ? undefined : { key, operator: 'in', values: [value] }
}

/** Others cannot be sent to another server as a selector. */
function valid(requirement: LabelRequirement | undefined): readonly LabelRequirement[] {
  if (requirement === undefined) return []
  const { key, values } = requirement
  const areTexts = values.every(value => /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(value))
  return areTexts && qualifiedNameErrors(key).length === 0 ? [requirement] : []
}

/** The key in `object.metadata.labels['key']`, or in `object.metadata.labels.key`. */
function labelOf(expr: Expr): string | undefined {
  if (expr.kind === 'select') return !expr.test && isLabels(expr.operand) ? expr.field : undefined
  const { name, args } = expr as CallExpr
  const [of, key] = args ?? []
  return expr.kind === 'call' && name === '_[_]' && of && key && isLabels(of) ? textOf(key) : undefined
}

const isLabels = (expr: Expr): boolean =>
  isField(expr, 'labels') && isField(expr.operand, 'metadata') && isObject(expr.operand.operand)

const isField = (expr: Expr, field: string): expr is Extract<Expr, { kind: 'select' }> =>
  expr.kind === 'select' && !expr.test && expr.field === field

const isObject = (expr: Expr): boolean => expr.kind === 'ident' && expr.name === 'object'

const textOf = (expr: Expr): string | undefined =>
  expr.kind === 'literal' && typeof expr.value === 'string' ? expr.value : undefined

function textsOf(expr: Expr): readonly string[] | undefined {
  if (expr.kind !== 'list') return undefined
  const texts = expr.elements.map(({ value, optional }) => (optional ? undefined : textOf(value)))
  return texts.every(text => text !== undefined) ? (texts as readonly string[]) : undefined
}
