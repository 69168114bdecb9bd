import type { ApiResource, ApiSet, TableColumn } from '../../framework/index.ts'
import {
  type ExpressionParams,
  type JSONSchemaProps,
  paramProblems,
  type ViewExpression,
} from '../../openapi/index.ts'
import { planAggregate } from './aggregateplan.ts'
import type { AggregatePlan } from './aggregates/types.ts'
import { hiddenPaths, writablePaths } from './checkedpaths.ts'
import { type ColumnParts, columnsFor } from './columns.ts'
import type { FieldSteps } from './fields/fieldsteps.ts'
import { withoutHidden } from './fields/schema.ts'
import { collectProblems, type FieldCompiler, type Problems, type ViewProblem } from './problems.ts'
import type { ViewAggregate, ViewObject, ViewResource } from './types.ts'

/** One resource of a View, compiled for the kind of its source. */
export interface ResourcePlan {
  readonly source: ApiResource
  readonly verbs: readonly string[]
  /** `spec.resources[0]` */
  readonly field: string
  readonly where?: ViewExpression
  readonly hide: readonly FieldSteps[]
  readonly annotate: readonly PlannedAnnotation[]
  /** undefined: all fields. */
  readonly writable?: readonly FieldSteps[]
  /** undefined: those of the source. */
  readonly columns?: readonly TableColumn[]
  /** The schema without hidden fields. */
  readonly openapi: JSONSchemaProps
  /** Whether the facts of logical clusters decide what is shown. */
  readonly readsClusters: boolean
  readonly readsUser: boolean
}

/** An annotation that a View adds. */
export interface PlannedAnnotation {
  readonly name: string
  readonly expression: ViewExpression
}

export interface ViewPlan {
  readonly resources: readonly ResourcePlan[]
  readonly aggregates: readonly AggregatePlan[]
  readonly problems: readonly ViewProblem[]
}

/** Compiles a View. A resource with a problem is not served. */
export function planOf({ spec }: ViewObject, source: ApiSet, factsOf: ColumnParts['factsOf']): ViewPlan {
  const params = spec?.params
  const wrong = paramProblems(params ?? {}).map(({ name, problem }) => ({
    about: 'expression' as const,
    message: problem,
    field: name === '' ? 'spec.params' : `spec.params[${name}]`,
  }))
  if (wrong.length > 0) return { resources: [], aggregates: [], problems: wrong }
  const plans = (spec?.resources ?? []).map((resource, i) => {
    const problems = collectProblems()
    const isPersonal = spec?.source?.workspaces !== undefined
    const planning = {
      resource,
      field: `spec.resources[${i}]`,
      source,
      columns: spec?.columns,
      factsOf,
      isPersonal,
      params,
    }
    const plan = planResource(planning, problems)
    return { resources: plan === undefined || problems.all.length > 0 ? [] : [plan], problems: problems.all }
  })
  const resources = plans.flatMap(({ resources }) => resources)
  const aggregates = (spec?.aggregate ?? []).map((aggregate, i) => {
    const problems = collectProblems()
    const of = resources.find(({ source: { group, names } }) => isOf(aggregate, group, names.plural))
    const compile =
      of === undefined ? () => undefined : problems.compilerFor(kindOf(of.source, of.openapi, params))
    const plan = planAggregate({ aggregate, field: `spec.aggregate[${i}]`, of, compile }, problems)
    return { plans: plan === undefined || problems.all.length > 0 ? [] : [plan], problems: problems.all }
  })
  return {
    resources,
    aggregates: aggregates.flatMap(each => each.plans),
    problems: [...plans, ...aggregates].flatMap(({ problems }) => problems),
  }
}

const isOf = ({ group = '', resource }: ViewAggregate, ofGroup: string, plural: string): boolean =>
  group === ofGroup && resource === plural

interface Planning {
  readonly resource: ViewResource
  readonly field: string
  readonly source: ApiSet
  readonly columns: NonNullable<ViewObject['spec']>['columns']
  readonly factsOf: ColumnParts['factsOf']
  /** The source shows each user other objects. */
  readonly isPersonal: boolean
  readonly params: ExpressionParams | undefined
}

function planResource(planning: Planning, problems: Problems): ResourcePlan | undefined {
  const { resource, field, params } = planning
  const source = sourceOf(resource, planning.source.resources)
  if (source === undefined) {
    problems.add('source', field, `the source does not have the resource ${named(resource)}`)
    return undefined
  }
  const whole = source.openapi as JSONSchemaProps
  const hide = hiddenPaths(resource, source, field, problems)
  const openapi = hide.length === 0 ? whole : withoutHidden(whole, hide)
  const where = problems.compilerFor(kindOf(source, whole, params))(`${field}.where`, resource.where, 'bool')
  const compile = problems.compilerFor(kindOf(source, openapi, params))
  const annotate = plannedAnnotations(planning, compile, problems)
  const writable = writablePaths(resource, source, field, problems)
  const { columns, factsOf } = planning
  const all = [where, ...annotate.map(({ expression }) => expression)]
  return {
    source,
    verbs: resource.verbs,
    field,
    hide,
    annotate,
    openapi,
    ...(where && { where }),
    ...(writable && { writable }),
    ...(columns && { columns: columnsFor(columns, { compile, problems, factsOf }) }),
    readsClusters: all.some(expression => expression?.reads.cluster),
    readsUser: planning.isPersonal || all.some(expression => expression?.reads.user),
  }
}

const kindOf = (
  { group, version, names }: ApiResource,
  openapi: JSONSchemaProps,
  params: ExpressionParams | undefined,
) => ({
  group,
  version,
  kind: names.kind,
  ...(params && { params }),
  openapi: openapi as Readonly<Record<string, unknown>>,
})

function plannedAnnotations(
  { resource, field }: Planning,
  compile: FieldCompiler,
  problems: Problems,
): readonly PlannedAnnotation[] {
  return Object.entries(resource.annotate ?? {}).flatMap(([name, text]) => {
    const at = `${field}.annotate[${name}]`
    problems.annotation(at, name)
    const expression = compile(at, text, 'string')
    return expression === undefined ? [] : [{ name, expression }]
  })
}

/** The resource in the named version, or in the preferred one. */
const sourceOf = (
  { group = '', resource, version }: ViewResource,
  resources: readonly ApiResource[],
): ApiResource | undefined =>
  resources.find(
    each =>
      each.group === group &&
      each.names.plural === resource &&
      (version === undefined || each.version === version),
  )

const named = ({ group, resource, version }: ViewResource): string => {
  const plural = group ? `${resource}.${group}` : resource
  return version === undefined ? JSON.stringify(plural) : `${JSON.stringify(plural)} in version ${version}`
}
