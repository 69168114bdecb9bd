import type {
  AggregatedResource,
  AggregateFunction,
  AggregatePlan,
  NamedExpression,
} from './aggregates/types.ts'
import type { FieldCompiler, Problems } from './problems.ts'
import type { ViewAggregate } from './types.ts'

export interface AggregatePlanning {
  readonly aggregate: ViewAggregate
  readonly field: string
  /** The served resource of the View; undefined if it has none. */
  readonly of: AggregatedResource | undefined
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
