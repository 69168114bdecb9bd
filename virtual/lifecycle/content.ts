import { type PolicyRule, ruleAllows } from '../../authz/index.ts'
import {
  actionOf,
  anonymous,
  forbiddenTo,
  type Host,
  internalError,
  type RequestContext,
  type RequestInfo,
  type ResourceRequest,
  StatusError,
  serviceUnavailable,
  type UserInfo,
} from '../../framework/index.ts'
import type { Clusters } from './clusters.ts'
import { isSystem, type Stage, typeOf, waitsFor } from './stage.ts'
import type { LifecycleParams, LogicalCluster } from './types.ts'

export type Context = Omit<RequestContext<LifecycleParams>, 'actAs'>

/** A request for what is in a workspace, not for its LogicalCluster: that is the views' own. */
export const isContent = ({ cluster, info }: Context): boolean => cluster !== '*' && !isLogicalClusters(info)

const isLogicalClusters = (info: RequestInfo): info is ResourceRequest =>
  info.isResource && info.group === 'core.kcp.io' && info.resource === 'logicalclusters'

/** What the views need to decide about content. */
export interface Entry {
  readonly host: Host
  readonly clusters: Clusters
  readonly stage: Stage
}

/**
 * Lets a request into a workspace that waits for the caller's initializer or terminator, or throws: whoever may act as
 * it, privileged or not, sees nothing else (chapter 10, section 4.6). What is allowed inside is what the type declares,
 * or, when it declares nothing, what the workspace's owner may do. The workspace has the last word in either case: it
 * keeps out who is not in the groups that it requires.
 */
export async function enter(entry: Entry, ctx: RequestContext<LifecycleParams>): Promise<void> {
  const { host, clusters, stage } = entry
  const { identifier } = ctx.params
  if (!isContent(ctx)) return
  const who = `${stage.role} ${JSON.stringify(identifier)}`
  const cluster = clusters.get(ctx.cluster)
  if (!waitsFor(stage, cluster, identifier)) throw refused(`${who} cannot access this workspace`)
  const rules = declaredRules(entry, ctx.params)
  if (rules === undefined)
    throw serviceUnavailable(
      `${who}: WorkspaceType not found; refusing to fall back to owner impersonation`,
      1,
    )
  if (rules.length > 0) checkRules(entry, ctx, rules)
  else if (ownerOf(cluster) === undefined)
    throw internalError(`LogicalCluster ${ctx.cluster}|cluster had no createdBy recorded`)
  const decision = await host.backend.authorizer.authorize(
    ctx.actAs,
    actionOf(ctx.info, ctx.cluster),
    ctx.signal,
  )
  if (decision.effect !== 'allow') throw forbiddenTo(ctx.actAs, ctx.info, decision.reason)
}

/** `spec.<role>Permissions` of the type; undefined when there is no such type. */
function declaredRules(
  { clusters, stage }: Entry,
  params: LifecycleParams,
): readonly PolicyRule[] | undefined {
  if (isSystem(params)) return []
  const reference = typeOf(params)
  const type = reference && clusters.type(reference)
  return type && (type.spec?.[`${stage.role}Permissions`] ?? [])
}

function checkRules(
  { stage: { role } }: Entry,
  ctx: RequestContext<LifecycleParams>,
  rules: readonly PolicyRule[],
): void {
  const action = actionOf(ctx.info, ctx.cluster)
  if (rules.some(rule => ruleAllows(rule, action))) return
  const who = `${role} ${JSON.stringify(ctx.params.identifier)}`
  throw refused(`${who} denied by ${role}Permissions: no rule allows ${printed(ctx.info)}`)
}

const refused = (message: string): StatusError => new StatusError(403, 'Forbidden', message)

/** `create on apps/deployments/scale (web) in namespace default` */
function printed(info: RequestInfo): string {
  if (!info.isResource) return `${info.verb} on ${info.path}`
  const { verb, group, resource, subresource, name, namespace } = info
  const parts = [`${group || 'core'}/${resource}`, ...(subresource === '' ? [] : [subresource])]
  const which = name === '' ? '' : ` (${name})`
  const where = namespace === '' ? '' : ` in namespace ${namespace}`
  return `${verb} on ${parts.join('/')}${which}${where}`
}

/** Whose rights apply in the backend: the caller's as initializer or terminator, or the owner's. */
export function contentUser(entry: Entry, { user, cluster, params }: Context): UserInfo {
  if ((declaredRules(entry, params) ?? []).length === 0)
    return ownerOf(entry.clusters.get(cluster)) ?? anonymous
  return { ...user, groups: [`system:kcp:${entry.stage.role}:${params.identifier}`, ...user.groups] }
}

const warrant = 'authorization.kcp.io/warrant'

/** Without warrants: those were for the request that made the workspace. */
function ownerOf(object: LogicalCluster | undefined): UserInfo | undefined {
  const createdBy = object?.spec?.createdBy
  if (createdBy === undefined) return undefined
  const { username: name, uid, groups = [], extra = {} } = createdBy
  const { [warrant]: _, ...kept } = extra
  return { name, groups, extra: kept, ...(uid === undefined ? {} : { uid }) }
}
