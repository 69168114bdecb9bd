import { isDeepStrictEqual } from 'node:util'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { Action, Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { apisGroup, viewsGroup } from '../../../kcp/apigroups.ts'
import type { WatchCache } from '../../cache/contract.ts'
import { customSegment } from '../../cache/segments.ts'
import { concerns, refused } from '../refusal.ts'
import { checkExpressions } from './viewexpressions.ts'

const views = `views.${viewsGroup}`

/** Views in one logical cluster. */
const mostViews = 100

interface ViewSpec {
  readonly source?: { readonly apiExport?: string }
  readonly resources?: readonly {
    readonly group?: string
    readonly resource: string
    readonly verbs: readonly string[]
  }[]
}

export interface ViewRules {
  readonly authorizer: Authorizer
  readonly cache: Pick<WatchCache, 'resource'>
}

/**
 * A user can create or change a View only with the permissions that the View gives on its source, because the users of
 * the View act with them. Expressions read objects, so that `list` is always needed. A logical cluster has at most
 * 100 Views.
 */
export const viewAdmission = (rules: ViewRules): AdmissionPlugin => {
  const admitted = new AdmittedViews()
  return {
    name: 'views.oriel.dev/View',
    handles: { operations: ['CREATE', 'UPDATE'], resources: [views] },
    async validate(ctx, request) {
      if (!concerns(request, views, ['CREATE', 'UPDATE'])) return
      if (!isDeepStrictEqual(request.object?.spec, request.old?.spec)) {
        checkExpressions(request)
        await checkPermissions(rules, ctx, request)
      }
      if (request.operation === 'CREATE') checkCount(rules, admitted, request)
    },
  }
}

/** Milliseconds in which an admitted View is stored. */
const storedWithin = 10_000

/** The names of Views that were admitted and may not be stored yet: many can be created at once. */
class AdmittedViews {
  /** In the order of their last one. */
  readonly #names = new Map<ClusterName, Map<string, number>>()

  names(cluster: ClusterName, now: number): readonly string[] {
    const names = this.#names.get(cluster) ?? new Map<string, number>()
    for (const [name, until] of names) if (until <= now) names.delete(name)
    return [...names.keys()]
  }

  add({ cluster, name }: AdmissionAttributes['key'], now: number): void {
    const names = this.#names.get(cluster) ?? new Map<string, number>()
    this.#names.delete(cluster)
    this.#names.set(cluster, names.set(name, now + storedWithin))
    for (const [oldest] of this.#names) {
      if (this.names(oldest, now).length > 0) return
      this.#names.delete(oldest)
    }
  }
}

function checkCount({ cache }: ViewRules, admitted: AdmittedViews, request: AdmissionAttributes): void {
  const { cluster } = request.key
  const now = performance.now()
  const names = new Set(admitted.names(cluster, now))
  for (const { name } of cache.resource(viewsGroup, 'views', customSegment).items(cluster)) names.add(name)
  names.delete(request.key.name)
  if (names.size >= mostViews) throw refused(request, `a workspace can have at most ${mostViews} Views`)
  if (!request.dryRun) admitted.add(request.key, now)
}

async function checkPermissions(
  { authorizer }: ViewRules,
  ctx: RequestContext,
  request: AdmissionAttributes,
): Promise<void> {
  for (const { field, action, on } of neededBy(request.object, request.key.cluster)) {
    const { effect } = await authorizer.authorize(ctx.actAs, action, ctx.signal)
    if (effect !== 'allow')
      throw refused(
        request,
        `${field}: a View can give only permissions that you have: ${action.verb} on ${on}`,
      )
  }
}

interface Needed {
  readonly field: string
  readonly action: Action
  readonly on: string
}

function neededBy(object: KubeObject | undefined, cluster: ClusterName): readonly Needed[] {
  const { source, resources = [] } = (object?.spec ?? {}) as ViewSpec
  const needed = resources.flatMap(({ group = '', resource, verbs }, i) =>
    ['list', ...verbs].map(verb => {
      const target = targetOf(source?.apiExport, group, resource)
      const action = { verb, cluster, resource: { version: '*', namespace: '', ...target } }
      return { field: `spec.resources[${i}]`, action, on: textOf(target) }
    }),
  )
  return [...new Map(needed.map(each => [`${each.action.verb} ${each.on}`, each])).values()]
}

type Target = Pick<NonNullable<Action['resource']>, 'group' | 'resource' | 'subresource' | 'name'>

const targetOf = (name: string | undefined, group: string, resource: string): Target =>
  name === undefined
    ? { group, resource, subresource: '', name: '' }
    : { group: apisGroup, resource: 'apiexports', subresource: 'content', name }

function textOf({ group, resource, subresource, name }: Target): string {
  const plural = subresource === '' ? resource : `${resource}/${subresource}`
  const text = group === '' ? plural : `${plural}.${group}`
  return name === '' ? text : `${text} ${JSON.stringify(name)}`
}
