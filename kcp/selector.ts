import { type FieldError, fieldErrorText } from '../framework/meta/errors.ts'
import { child, forbidden, invalidValue, required } from '../framework/meta/fielderror.ts'
import { labelValueErrors, qualifiedNameErrors } from '../framework/meta/names.ts'
import type { LabelRequirement, LabelSelector } from '../framework/selectors/selectors.ts'

/** `metav1.LabelSelectorRequirement`. */
export interface MetaV1LabelSelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

/** `metav1.LabelSelector`: a label selector as objects contain it. */
export interface MetaV1LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly MetaV1LabelSelectorRequirement[]
}

const operators: ReadonlyMap<string, LabelRequirement['operator']> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

/** Selects nothing. */
const nothing: LabelSelector = {
  requirements: [
    { key: 'none', operator: 'exists', values: [] },
    { key: 'none', operator: '!', values: [] },
  ],
}

/**
 * Labels sorted by key, then the expressions (`metav1.LabelSelectorAsSelector`). The schemas of most kinds do not check selectors: one
 * that Kubernetes refuses selects nothing, and not more than its author has meant.
 */
export function requirementsOf(selector: MetaV1LabelSelector): LabelSelector {
  const found = known.get(selector) ?? readSelector(selector)
  known.set(selector, found)
  return found
}

/** A selector may have a hundred thousand values, and webhooks and policies are matched with each write. */
const known = new WeakMap<MetaV1LabelSelector, LabelSelector>()

function readSelector(selector: MetaV1LabelSelector): LabelSelector {
  if (problemsOf(selector, '').next().done !== true) return nothing
  const { matchLabels = {}, matchExpressions = [] } = selector
  const labels = Object.entries(matchLabels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]): LabelRequirement => ({ key, operator: 'in', values: [value] }))
  const expressions = matchExpressions.flatMap(({ key, operator: name, values = [] }) => {
    const operator = operators.get(name)
    return operator === undefined ? [] : [{ key, operator, values }]
  })
  return { requirements: [...labels, ...expressions] }
}

/** Why Kubernetes cannot read a selector, as conditions have it (`metav1.LabelSelectorAsSelector`); undefined when it can. */
export function selectorProblem(selector: MetaV1LabelSelector): string | undefined {
  const [first] = selectorErrors(selector, '')
  return expressionProblem(selector) ?? (first && fieldErrorText(first))
}

/** The same of the operators and the numbers of values only. */
export function expressionProblem({ matchExpressions = [] }: MetaV1LabelSelector): string | undefined {
  for (const { operator, values = [] } of matchExpressions) {
    if (!operators.has(operator))
      return `${JSON.stringify(operator ?? '')} is not a valid label selector operator`
    if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
      return `values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`
  }
  return undefined
}

/** Errors after which a selector is not read further: it has room for a hundred thousand. */
const mostErrors = 100

/** `ValidateLabelSelector` of `k8s.io/apimachinery/pkg/apis/meta/v1/validation`. */
export function selectorErrors(selector: MetaV1LabelSelector, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const error of problemsOf(selector, path)) {
    errors.push(error)
    if (errors.length === mostErrors) break
  }
  return errors
}

function* problemsOf(
  { matchLabels = {}, matchExpressions = [] }: MetaV1LabelSelector,
  path: string,
): Generator<FieldError, void> {
  const labels = child(path, 'matchLabels')
  for (const [key, value] of Object.entries(matchLabels)) {
    for (const problem of qualifiedNameErrors(key)) yield invalidValue(labels, key, problem)
    for (const problem of labelValueErrors(value)) yield invalidValue(labels, value, problem)
  }
  for (const [i, expression] of matchExpressions.entries())
    yield* expressionProblems(expression, child(path, `matchExpressions[${i}]`))
}

function* expressionProblems(
  { key = '', operator, values = [] }: MetaV1LabelSelectorRequirement,
  path: string,
): Generator<FieldError, void> {
  yield* operatorErrors(operator, values, path)
  for (const problem of qualifiedNameErrors(key)) yield invalidValue(`${path}.key`, key, problem)
  for (const [i, value] of values.entries())
    for (const problem of labelValueErrors(value)) yield invalidValue(`${path}.values[${i}]`, value, problem)
}

function operatorErrors(operator: string, values: readonly string[], path: string): readonly FieldError[] {
  if (!operators.has(operator))
    return [invalidValue(`${path}.operator`, operator, 'not a valid selector operator')]
  const needsValues = operator === 'In' || operator === 'NotIn'
  if (needsValues === values.length > 0) return []
  return needsValues
    ? [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
    : [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
}
