import { actionOf, decisionBy, type ViewStep } from '../../framework/contract/authorizer.ts'
import {
  allow,
  type Decision,
  deny,
  type Host,
  type Item,
  type RequestContext,
  type UserInfo,
} from '../../framework/index.ts'
import { hasCode } from '../../framework/meta/statuschecks.ts'
import type { ResourceRequest } from '../../framework/request/requestinfo.ts'
import { isPrivileged } from '../../framework/request/user.ts'
import { resources } from '../../kcp/index.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import type { ViewApis } from './apis.ts'
import { Failures } from './failures.ts'
import type { ResourcePlan } from './plan.ts'
import { Presenter } from './presenter.ts'
import { labelledBy } from './selectors.ts'
import { ViewSight } from './sight.ts'
import type { ViewObject, ViewParams } from './types.ts'

export interface ViewPartsOptions {
  readonly host: Host
  readonly apis: ViewApis
  readonly clusters: ClusterIndex
}

/** A request for a resource of a View, to be explained. */
interface Explained {
  readonly ctx: RequestContext<ViewParams>
  readonly info: ResourceRequest
  readonly plan: ResourcePlan
  /** `of the View "gold"` */
  readonly of: string
}

const self = 'virtual.views'

/**
 * What `where`, `hide` and `writable` do with a request, for explanations. Whether an object is in the View is told only to requesters who
 * may `get` it in the source: others would learn that it exists.
 */
export function partSteps(
  options: ViewPartsOptions,
  ctx: RequestContext<ViewParams>,
  object: ViewObject,
): readonly ViewStep[] {
  const { info, params } = ctx
  if (!info.isResource) return []
  const isAbout = ({ source }: ResourcePlan): boolean =>
    source.group === info.group && source.names.plural === info.resource
  const plan = options.apis.of(params)?.plan.resources.find(isAbout)
  if (plan === undefined) return []
  const explained = { ctx, info, plan, of: `of the View ${JSON.stringify(params.view)}` }
  const { where, hide = [], writable } = object.spec?.resources?.[indexOf(plan)] ?? {}
  const own = (step: () => Decision | Promise<Decision>): ViewStep => {
    return async () => ({ ...(await step()), cluster: params.owner })
  }
  return [
    ...(where === undefined && plan.annotate.length === 0 ? [] : [own(() => selection(options, explained))]),
    ...(hide.length === 0 ? [] : [own(() => hiding(explained, hide))]),
    ...(writable === undefined || !writes.has(info.verb) ? [] : [own(() => writing(explained, writable))]),
  ]
}

/** `spec.resources[2]` is the third resource. */
const indexOf = ({ field }: ResourcePlan): number => Number(/\d+/.exec(field)?.[0])

const writes = new Set(['create', 'update', 'patch'])

const hiding = ({ plan, of }: Explained, hide: readonly string[]): Decision =>
  allow(
    `${plan.field}.hide ${of} hides ${hide.join(', ')} (in no response, and not writable)`,
    `${self}.hide`,
  )

const writing = ({ plan, of }: Explained, writable: readonly string[]): Decision =>
  allow(
    `${plan.field}.writable ${of} allows to write ${writable.join(', ')}: other fields are 422`,
    `${self}.writable`,
  )

/** Whether the object of the request is in the View; without one, that objects are selected. */
async function selection(options: ViewPartsOptions, explained: Explained): Promise<Decision> {
  const { plan, of, info, ctx } = explained
  const by = `${self}.where`
  const field = `${plan.field}.where ${of}`
  if (info.name === '' || info.verb === 'create' || ctx.cluster === '*')
    return allow(`${field} selects the objects: others are not found`, by)
  if (!(await mayGet(options, explained)))
    return allow(
      `${field} selects the objects: whether it selects this one is told to users who may get it`,
      by,
    )
  const item = await found(explained)
  if (item === undefined) return allow('the source shows no such object to the user', by)
  return judged(options, explained, item)
}

/** Runs the expressions of the View for the object, as for a request of the user. */
function judged({ clusters }: ViewPartsOptions, { ctx, plan, of }: Explained, item: Item): Decision {
  const by = `${self}.where`
  const failures = new Failures(() => undefined)
  const presenter = new Presenter(plan, failures)
  const { owner } = ctx.params
  const parts = { plan, clusters, failures, presenter, owner, labelled: labelledBy(plan) }
  const sight = new ViewSight(parts, ctx.user)
  if (sight.shown(item) !== undefined) return allow(`${plan.field} ${of} selects the object`, by)
  const [failure] = failures.all
  const why =
    failure === undefined
      ? `${plan.field}.where ${of} is false for it`
      : `${failure.field} ${of} fails for it: ${failure.reason}`
  return deny(`the object is hidden, as if it did not exist: ${why}`, by)
}

async function found({ ctx, info, plan }: Explained): Promise<Item | undefined> {
  const { cluster } = ctx
  try {
    return await plan.source.storage.get(ctx as never, {
      cluster,
      namespace: info.namespace,
      name: info.name,
    })
  } catch (error) {
    if (hasCode(error, 404, 403)) return undefined
    throw error
  }
}

/** Whether the requester may get the object: in its logical cluster, or through the export of the View. */
async function mayGet({ host, apis }: ViewPartsOptions, { ctx, info }: Explained): Promise<boolean> {
  const { requestor, params, cluster } = ctx
  if (requestor === undefined) return false
  if (isPrivileged(requestor)) return true
  const get = { ...info, verb: 'get' as const }
  const { spec } = (apis.find(params)?.object ?? {}) as ViewObject
  const name = spec?.source?.apiExport
  const content = { ...resources.apiExports, subresource: 'content', namespace: '', name: name ?? '' }
  const may = (user: UserInfo, action: Parameters<typeof decisionBy>[1]['action']) =>
    decisionBy(host.backend.authorizer, { user, action }, ctx)
  const asked = [
    may(requestor, actionOf(get, cluster)),
    ...(name === undefined
      ? []
      : [may(requestor, { verb: 'get', cluster: params.owner, resource: content })]),
  ]
  return (await Promise.all(asked)).some(({ effect }) => effect === 'allow')
}
