import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import {
  expressionLength,
  mostExpressionCharacters,
  perExpression,
} from '../../../framework/formats/expressionlength.ts'
import { refused } from '../refusal.ts'

type Expressions = Readonly<Record<string, string>>

interface Spec {
  readonly resources?: readonly { readonly where?: string; readonly annotate?: Expressions }[]
  readonly columns?: readonly { readonly expression?: string }[]
  readonly aggregate?: readonly {
    readonly by?: Expressions
    readonly sum?: Expressions
    readonly min?: Expressions
    readonly max?: Expressions
  }[]
}

const costOf = (expressions: readonly (string | undefined)[]): number =>
  expressionLength(expressions.filter(text => text !== undefined))

/** Columns are compiled for each resource. */
function totalOf({ resources = [], columns = [], aggregate = [] }: Spec): number {
  const ofColumns = costOf(columns.map(({ expression }) => expression))
  const ofResources = resources.map(
    ({ where, annotate = {} }) => costOf([where, ...Object.values(annotate)]) + ofColumns,
  )
  const ofAggregates = aggregate.map(({ by, sum, min, max }) =>
    costOf([by, sum, min, max].flatMap(each => Object.values(each ?? {}))),
  )
  return [...ofResources, ...ofAggregates].reduce((sum, each) => sum + each, 0)
}

/** Refuses a View whose expressions are too long together. */
export function checkExpressions(request: AdmissionAttributes): void {
  const total = totalOf((request.object?.spec ?? {}) as Spec)
  if (total <= mostExpressionCharacters) return
  const counted = `${perExpression} more for each, and those of columns for each resource`
  throw refused(
    request,
    `spec: the expressions have ${total} characters (${counted}), at most ${mostExpressionCharacters} are allowed`,
  )
}
