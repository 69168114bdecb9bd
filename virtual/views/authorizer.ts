import {
  clusterDecision,
  decideUntilRefused,
  decisionBy,
  type ViewStep,
} from '../../framework/contract/authorizer.ts'
import { contextWith } from '../../framework/contract/context.ts'
import {
  allow,
  type Decision,
  decideAll,
  deny,
  type Host,
  loopback,
  type Params,
  type RequestContext,
  viewDecision,
} from '../../framework/index.ts'
import type { ResourceRequest } from '../../framework/request/requestinfo.ts'
import { resources, viewsGroup } from '../../kcp/index.ts'
import {
  type AskingContext,
  actAs,
  type ContentAuthorizer,
  consumerSteps,
  inCluster,
} from '../shared/exports/authorizer.ts'
import type { Exports } from '../shared/exports/exports.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import type { ViewApis } from './apis.ts'
import { partSteps } from './explanationsteps.ts'
import type { ViewObject, ViewParams, ViewResource } from './types.ts'

type Context = AskingContext<ViewParams>

const self = 'virtual.views'

export interface ViewAuthorizerOptions {
  readonly host: Host
  readonly exports: Exports
  readonly apis: ViewApis
  readonly clusters: ClusterIndex
}

/**
 * Checks `views/content` in the workspace of the View, the verbs of the View, and then what its source checks. All have
 * to allow; the client reads only `access denied`.
 */
export function viewAuthorizer(options: ViewAuthorizerOptions): ContentAuthorizer<ViewParams> {
  const stepsFor = (ctx: Context): readonly ViewStep[] => {
    const object = options.apis.find(ctx.params)?.object as ViewObject | undefined
    const { owner: cluster } = ctx.params
    if (object === undefined) return [() => ({ ...deny('no such View', self), cluster })]
    return [
      () => mayUseContent(options.host, ctx),
      () => ({ ...verbAllows(ctx, object), cluster }),
      ...sourceSteps(options, ctx, object),
    ]
  }
  return {
    async authorize(ctx) {
      const decision = viewDecision(self, await decideUntilRefused(stepsFor(ctx)))
      return decision.effect === 'allow' ? decision : { ...decision, hint }
    },
    explain: async ctx => {
      const object = options.apis.find(ctx.params)?.object as ViewObject | undefined
      const parts = object === undefined ? [] : partSteps(options, ctx as RequestContext<ViewParams>, object)
      const decision = viewDecision(self, await decideAll([...stepsFor(ctx), ...parts]))
      return { ...decision, cluster: ctx.params.owner }
    },
    actAs: ctx => actAs(ctx as never, loopback),
  }
}

/** The same for all refusals, so that it tells nothing about Views and objects. */
const hint =
  'a View needs its verb on "views/content" in its workspace; "oriel explain" shows what is missing'

/** The verb of the request on `views/content` of the View, in the logical cluster of the View. */
async function mayUseContent({ backend }: Host, ctx: Context): Promise<Decision> {
  const { owner: cluster, view: name } = ctx.params
  const resource = { ...resources.views, subresource: 'content', namespace: '', name }
  const question = { user: ctx.user, action: { verb: ctx.info.verb, cluster, resource } }
  return clusterDecision(cluster, `${self}.content`, await decisionBy(backend.authorizer, question, ctx))
}

/** Whether `spec.resources` has the resource with the verb. */
function verbAllows({ info, params }: Context, { spec }: ViewObject): Decision {
  const by = `${self}.resources`
  if (!info.isResource) return allow('not about a resource', by)
  if (isAggregate(info)) return aggregatesAllow(info.subresource, params.view, spec)
  const all = spec?.resources ?? []
  const index = all.findIndex(each => isAbout(each, info))
  const of = `of the View ${JSON.stringify(params.view)}`
  if (index < 0) return deny(`spec.resources ${of} does not have the resource`, by)
  if (info.subresource !== '') return deny(`subresources are not part ${of}`, by)
  const field = `spec.resources[${index}].verbs`
  return all[index]?.verbs.includes(info.verb)
    ? allow(`${field} ${of} has the verb`, by)
    : deny(`${field} ${of} does not have ${JSON.stringify(info.verb)}`, by)
}

/** Aggregates can be read where the View has some. */
function aggregatesAllow(subresource: string, view: string, spec: ViewObject['spec']): Decision {
  const by = `${self}.aggregate`
  const of = `of the View ${JSON.stringify(view)}`
  if (subresource !== '') return deny(`subresources are not part ${of}`, by)
  return (spec?.aggregate ?? []).length > 0
    ? allow(`spec.aggregate ${of} is set`, by)
    : deny(`spec.aggregate ${of} is not set`, by)
}

const isAggregate = (info: Context['info']): boolean =>
  info.isResource && info.group === viewsGroup && info.resource === 'aggregates'

const isAbout = (
  { group = '', resource }: ViewResource,
  info: { readonly group: string; readonly resource: string },
): boolean => group === info.group && resource === info.resource

/** What the source shows to the workspace of the View at most. */
function sourceSteps(
  options: ViewAuthorizerOptions,
  ctx: Context,
  { spec }: ViewObject,
): readonly ViewStep[] {
  const { host, exports } = options
  const { owner } = ctx.params
  const { info } = ctx
  if (info.isResource && isAggregate(info)) return aggregateSteps(options, ctx, { info, spec })
  const { apiExport } = spec?.source ?? {}
  if (apiExport === undefined) return [() => ownCluster(host, ctx)]
  const params = { provider: owner, name: apiExport }
  const object = exports.find(params)
  if (object === undefined) return [() => ({ ...deny('no such APIExport', self), cluster: owner })]
  return consumerSteps(changed(ctx, { params }), object, { host, exports })
}

/** An aggregate needs what a list of all its objects needs, and is in the logical cluster of the View only. */
function aggregateSteps(
  options: ViewAuthorizerOptions,
  ctx: Context,
  { info, spec }: { readonly info: ResourceRequest; readonly spec: ViewObject['spec'] },
): readonly ViewStep[] {
  const { owner } = ctx.params
  if (ctx.cluster !== '*' && ctx.cluster !== owner)
    return [() => ({ ...deny('aggregates are in the logical cluster of the View', self), cluster: owner })]
  return (spec?.aggregate ?? []).flatMap(({ group = '', resource }) => {
    const verb = info.verb === 'watch' ? 'watch' : 'list'
    const all: ResourceRequest = { ...info, verb, group, resource, name: '', namespace: '' }
    const inAll = contextWith(ctx as unknown as RequestContext, { info: all, cluster: '*' })
    return sourceSteps(options, inAll as unknown as Context, { metadata: {}, spec } as ViewObject)
  })
}

/** A View of its own workspace: `*` is this workspace, and no other one is in the View. */
async function ownCluster(host: Host, ctx: Context): Promise<Decision> {
  const { cluster, params, info } = ctx
  const by = `${self}.cluster`
  if (cluster !== '*' && cluster !== params.owner)
    return { ...deny('the View shows its own workspace only', by), cluster: params.owner }
  if (!info.isResource) return { ...allow('not about a resource', by), cluster: params.owner }
  const own = changed(ctx, { params: { provider: params.owner, name: '' }, cluster: params.owner })
  return { ...(await inCluster(own, host)), authorizer: by }
}

const changed = <P extends Params>(
  ctx: Context,
  changes: { readonly params: P; readonly cluster?: string },
): AskingContext<P> => contextWith(ctx as unknown as RequestContext<P>, changes)
