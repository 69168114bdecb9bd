import { type PolicyRule, ruleAllows } from '../../../authz/index.ts'
import type { ViewStep } from '../../../framework/contract/authorizer.ts'
import { actionOf, clusterDecision, forbiddenTo } from '../../../framework/contract/authorizer.ts'
import {
  allow,
  type Decision,
  deny,
  type Host,
  type RequestContext,
  type RequestInfo,
  type ResourceRequest,
  StatusError,
  serviceUnavailable,
  type UserInfo,
  viewDecision,
} from '../../../framework/index.ts'
import { internalError } from '../../../framework/meta/errors.ts'
import { anonymous, systemMasters } from '../../../framework/request/user.ts'
import { coreGroup, creatorOf, type LogicalCluster, warrantKey } from '../../../kcp/index.ts'

import type { Clusters } from './clusters.ts'
import { authorizerOf, isSystem, type LifecycleParams, type Stage, typeOf, waitsFor } from './stage.ts'

export type Context = Omit<RequestContext<LifecycleParams>, 'actAs'>

/** A content request: for other resources of a workspace than its LogicalCluster. */
export const isContent = ({ cluster, info }: Context): boolean => cluster !== '*' && !isLogicalClusters(info)

const isLogicalClusters = (info: RequestInfo): info is ResourceRequest =>
  info.isResource && info.group === coreGroup && info.resource === 'logicalclusters'

/** The dependencies of checks of content requests. */
export interface Entry {
  readonly host: Host
  readonly clusters: Clusters
  readonly stage: Stage
}

/** The decision of a check; without `refusal` it allows. */
interface Check {
  readonly decision: Decision
  readonly refusal?: StatusError
}

type Content = RequestContext<LifecycleParams>

/**
 * Checks a content request, or throws: only initializers and terminators that have not finished have access, also
 * privileged ones. The type's permissions decide; without them the rights of the owner of the workspace. The
 * workspace's required groups apply in both cases.
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

/** All checks of a content request, also after a rejection. */
export const entranceSteps = (entry: Entry, ctx: Content): readonly ViewStep[] =>
  isContent(ctx) ? checks.map(check => async () => (await check(entry, ctx)).decision) : []

const checks: readonly ((entry: Entry, ctx: Content) => Check | Promise<Check>)[] = [
  waiting,
  permitted,
  inside,
]

/** Whether the initializer or terminator has not finished. */
function waiting({ clusters, stage }: Entry, { cluster, params: { identifier } }: Content): Check {
  const by = `${authorizerOf(stage)}.waiting`
  if (waitsFor(stage, clusters.get(cluster), identifier))
    return { decision: { ...allow('the workspace waits', by), cluster } }
  const why = `${stage.role} ${JSON.stringify(identifier)} cannot access this workspace`
  return { decision: { ...deny(why, by), cluster }, refusal: refused(why) }
}

/** Whether the permissions of the type allow the request; without permissions, whether the owner is known. */
function permitted(entry: Entry, ctx: Content): Check {
  const { clusters, stage } = entry
  const by = `${authorizerOf(stage)}.permissions`
  const cluster = typeOf(ctx.params)?.cluster ?? ctx.cluster
  const rules = declaredRules(entry, ctx.params)
  if (rules?.length === 0 && ownerOf(clusters.get(ctx.cluster)) !== undefined)
    return { decision: { ...allow('permissions of the owner of the workspace', by), cluster } }
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

/** Whether the authorizer of the workspace allows the request. */
async function inside({ host, stage }: Entry, { cluster, info, actAs, signal }: Content): Promise<Check> {
  const answer = await host.backend.authorizer.authorize(actAs, actionOf(info, cluster), signal)
  const decision = clusterDecision(cluster, `${authorizerOf(stage)}.cluster`, answer)
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

/** The user in the backend: the caller with the group of the initializer or terminator, or the owner. */
export function contentUser(entry: Entry, { user, cluster, params }: Context): UserInfo {
  if ((declaredRules(entry, params) ?? []).length === 0)
    return ownerOf(entry.clusters.get(cluster)) ?? anonymous
  return { ...user, groups: [`system:kcp:${entry.stage.role}:${params.identifier}`, ...user.groups] }
}

/** Groups with permissions in all logical clusters. */
const isAdministrators = (group: string): boolean =>
  group === systemMasters || group.startsWith('system:kcp:')

/**
 * Without warrants, which were for the request that created the workspace, and without the groups of administrators: the
 * owner of the type chooses the controllers, and is another tenant. In the workspace, the owner has its ClusterRoleBinding
 * `workspace-admin`. kcp keeps the groups.
 */
function ownerOf(object: LogicalCluster | undefined): UserInfo | undefined {
  const createdBy = object?.spec?.createdBy
  if (createdBy === undefined) return undefined
  const creator = creatorOf(createdBy)
  const { [warrantKey]: _, ...extra } = creator.extra
  return { ...creator, groups: creator.groups.filter(group => !isAdministrators(group)), extra }
}
