import type { ApiResource, ApiSet } from '../../framework/index.ts'
import { compileViewExpression, type ViewExpression } from '../../openapi/index.ts'
import type { ViewObject, ViewResource } from './types.ts'

/** A mistake in a View. */
export interface ViewProblem {
  readonly about: 'source' | 'expression'
  /** `spec.resources[0].where` */
  readonly field: string
  readonly message: string
}

/** One resource of a View, compiled for the kind of its source. */
export interface ResourcePlan {
  readonly source: ApiResource
  readonly verbs: readonly string[]
  /** `spec.resources[0]` */
  readonly field: string
  readonly where?: ViewExpression
}

export interface ViewPlan {
  readonly resources: readonly ResourcePlan[]
  readonly problems: readonly ViewProblem[]
}

/** Compiles a View. A resource with a problem is not served. */
export function planOf({ spec }: ViewObject, source: ApiSet): ViewPlan {
  const plans = (spec?.resources ?? []).map((resource, i) =>
    planResource(resource, `spec.resources[${i}]`, source),
  )
  return {
    resources: plans.flatMap(({ resources }) => resources),
    problems: plans.flatMap(({ problems }) => problems),
  }
}

function planResource(resource: ViewResource, field: string, { resources }: ApiSet): ViewPlan {
  const found = sourceOf(resource, resources)
  if (found === undefined) {
    const message = `the source does not have the resource ${named(resource)}`
    return { resources: [], problems: [{ about: 'source', field, message }] }
  }
  const { group, version, names, openapi } = found
  const kind = { group, version, kind: names.kind, openapi }
  const { where } = resource
  const compiled = where === undefined ? undefined : compileViewExpression(where, kind, 'bool')
  if (compiled !== undefined && 'problem' in compiled)
    return {
      resources: [],
      problems: [{ about: 'expression', field: `${field}.where`, message: compiled.problem }],
    }
  const plan = { source: found, verbs: resource.verbs, field, ...(compiled && { where: compiled }) }
  return { resources: [plan], problems: [] }
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
