import type { ViewExpression } from '../../../openapi/index.ts'
import type { ResourcePlan } from '../plan.ts'
import type { FieldCompiler, Problems } from '../problems.ts'
import type { ViewAggregate } from '../types.ts'

/** The functions of an aggregate besides the count. */
export const functions = ['sum', 'min', 'max'] as const
export type AggregateFunction = (typeof functions)[number]

/** An expression of an aggregate, under a name. */
export interface NamedExpression {
  readonly name: string
  /** `spec.aggregate[0].sum[size]` */
  readonly field: string
  readonly expression: ViewExpression
}

/** One entry of `spec.aggregate`, compiled. */
export interface AggregatePlan {
  readonly name: string
  readonly of: ResourcePlan
  readonly by: readonly NamedExpression[]
  readonly values: Readonly<Record<AggregateFunction, readonly NamedExpression[]>>
}

export interface AggregatePlanning {
  readonly aggregate: ViewAggregate
  readonly field: string
  /** The served resource of the View; undefined if it has none. */
  readonly of: ResourcePlan | undefined
  readonly compile: FieldCompiler
}

/** undefined for an aggregate of a resource that is not served, which has problems of its own. */
export function planAggregate(planning: AggregatePlanning, problems: Problems): AggregatePlan | undefined {
  const { aggregate, field, of } = planning
  if (of === undefined) {
    problems.add('expression', field, 'spec.resources does not have the resource, or it is not valid')
    return undefined
  }
  if (of.readsUser)
    problems.add('expression', field, `an aggregate cannot depend on the user, but ${of.field} does`)
  const named = (under: AggregateFunction | 'by') => namedIn(planning, under, problems)
  const values = { sum: named('sum'), min: named('min'), max: named('max') }
  return { name: aggregate.name, of, by: named('by'), values }
}

function namedIn(
  { aggregate, field, compile }: AggregatePlanning,
  under: AggregateFunction | 'by',
  problems: Problems,
): readonly NamedExpression[] {
  return Object.entries(aggregate[under] ?? {}).flatMap(([name, text]) => {
    const at = `${field}.${under}[${name}]`
    const expression = compile(at, text, 'cell')
    if (expression?.reads.user) problems.add('expression', at, 'an aggregate cannot depend on the user')
    return expression === undefined ? [] : [{ name, field: at, expression }]
  })
}
