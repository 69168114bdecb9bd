import { type PolicyRule, ruleAllows } from '../../../authz/index.ts'
import {
  actionOf,
  allow,
  anonymous,
  askedIn,
  type Decision,
  deny,
  forbiddenTo,
  type Host,
  internalError,
  type RequestContext,
  type RequestInfo,
  type ResourceRequest,
  StatusError,
  serviceUnavailable,
  type UserInfo,
  type ViewStep,
  viewDecision,
} from '../../../framework/index.ts'
import type { LogicalCluster } from '../../../kcp/index.ts'
import { coreGroup, warrantKey } from '../../../kcp/index.ts'
import type { Clusters } from './clusters.ts'
import type { LifecycleParams } from './stage.ts'
import { authorizerOf, isSystem, type Stage, typeOf, waitsFor } from './stage.ts'

export type Context = Omit<RequestContext<LifecycleParams>, 'actAs'>

/** A request for what is in a workspace, not for its LogicalCluster: that is the views' own. */
export const isContent = ({ cluster, info }: Context): boolean => cluster !== '*' && !isLogicalClusters(info)

const isLogicalClusters = (info: RequestInfo): info is ResourceRequest =>
  info.isResource && info.group === coreGroup && info.resource === 'logicalclusters'

/** What the views need to decide about content. */
export interface Entry {
  readonly host: Host
  readonly clusters: Clusters
  readonly stage: Stage
}

/** What one check said; without a refusal it has allowed. */
interface Check {
  readonly decision: Decision
  readonly refusal?: StatusError
}

type Content = RequestContext<LifecycleParams>

/**
 * Lets a request into a workspace that waits for the caller's initializer or terminator, or throws: whoever may act as
 * it, privileged or not, sees nothing else (chapter 10, section 4.6). What is allowed inside is what the type declares,
 * or, when it declares nothing, what the workspace's owner may do. The workspace has the last word in either case: it
 * keeps out who is not in the groups that it requires.
 */
export async function enter(entry: Entry, ctx: Content): Promise<void> {
  if (!isContent(ctx)) return
  const trace: Decision[] = []
  for (const check of checks) {
    const { decision, refusal } = await check(entry, ctx)
    trace.push(decision)
    if (refusal === undefined) continue
    ctx.record.decided?.('request.auth.kcp.io', viewDecision(authorizerOf(entry.stage), trace))
    throw refusal
  }
}

/** What each check says of a request that would have to enter, also behind a refusal. */
export const entranceSteps = (entry: Entry, ctx: Content): readonly ViewStep[] =>
  isContent(ctx) ? checks.map(check => async () => (await check(entry, ctx)).decision) : []

const checks: readonly ((entry: Entry, ctx: Content) => Check | Promise<Check>)[] = [
  waiting,
  permitted,
  inside,
]

/** Does the workspace wait? */
function waiting({ clusters, stage }: Entry, { cluster, params: { identifier } }: Content): Check {
  const by = `${authorizerOf(stage)}.waiting`
  if (waitsFor(stage, clusters.get(cluster), identifier))
    return { decision: { ...allow('the workspace waits', by), cluster } }
  const why = `${stage.role} ${JSON.stringify(identifier)} cannot access this workspace`
  return { decision: { ...deny(why, by), cluster }, refusal: refused(why) }
}

/** Does the type say that it may do this, or leave it to the workspace's owner, who is known? */
function permitted(entry: Entry, ctx: Content): Check {
  const { clusters, stage } = entry
  const by = `${authorizerOf(stage)}.permissions`
  const cluster = typeOf(ctx.params)?.cluster ?? ctx.cluster
  const rules = declaredRules(entry, ctx.params)
  if (rules?.length === 0 && ownerOf(clusters.get(ctx.cluster)) !== undefined)
    return { decision: { ...allow('what the owner of the workspace may', by), cluster } }
  const refusal = refusalBy(rules, entry, ctx)
  if (refusal === undefined) return { decision: { ...allow(`${stage.role}Permissions`, by), cluster } }
  const where = rules?.length === 0 ? ctx.cluster : cluster
  return { decision: { ...deny(refusal.message, by), cluster: where }, refusal }
}

function refusalBy(
  rules: readonly PolicyRule[] | undefined,
  { stage: { role } }: Entry,
  { cluster, info, params: { identifier } }: Content,
): StatusError | undefined {
  const who = `${role} ${JSON.stringify(identifier)}`
  if (rules === undefined) {
    const why = `${who}: WorkspaceType not found; refusing to fall back to owner impersonation`
    return serviceUnavailable(why, 1)
  }
  if (rules.length === 0) return internalError(`LogicalCluster ${cluster}|cluster had no createdBy recorded`)
  if (rules.some(rule => ruleAllows(rule, actionOf(info, cluster)))) return undefined
  return refused(`${who} denied by ${role}Permissions: no rule allows ${printed(info)}`)
}

/** Does the workspace itself allow it? */
async function inside({ host, stage }: Entry, { cluster, info, actAs, signal }: Content): Promise<Check> {
  const answer = await host.backend.authorizer.authorize(actAs, actionOf(info, cluster), signal)
  const decision = askedIn(cluster, `${authorizerOf(stage)}.cluster`, answer)
  return answer.effect === 'allow'
    ? { decision }
    : { decision, refusal: forbiddenTo(actAs, info, answer.reason) }
}

/** `spec.<role>Permissions` of the type; undefined when there is no such type. */
function declaredRules(
  { clusters, stage }: Entry,
  params: LifecycleParams,
): readonly PolicyRule[] | undefined {
  if (isSystem(params)) return []
  const reference = typeOf(params)
  const type = reference && clusters.type(reference)
  return type && ((type.spec?.[`${stage.role}Permissions`] ?? []) as readonly PolicyRule[])
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

/** Without warrants: those were for the request that made the workspace. */
function ownerOf(object: LogicalCluster | undefined): UserInfo | undefined {
  const createdBy = object?.spec?.createdBy
  if (createdBy === undefined) return undefined
  const { username: name, uid, groups = [], extra = {} } = createdBy
  const { [warrantKey]: _, ...kept } = extra
  return { name, groups, extra: kept, ...(uid === undefined ? {} : { uid }) }
}
