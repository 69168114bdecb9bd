import { bindingUser } from '../../../authz/index.ts'
import {
  actionOf,
  clusterDecision,
  decideUntilRefused,
  decisionBy,
  noOpinion,
  type ViewStep,
} from '../../../framework/contract/authorizer.ts'
import {
  allow,
  type Decision,
  decideAll,
  deny,
  type Host,
  loopback,
  type Params,
  type RequestContext,
  type ResourceRequest,
  type UserInfo,
  viewDecision,
} from '../../../framework/index.ts'
import {
  type APIBinding,
  type APIExport,
  apisGroup,
  clusterNameKey,
  kcpAdmin,
  type PermissionClaim,
  scopesKey,
  warrantKey,
} from '../../../kcp/index.ts'
import { claimedGroup, sameClaim } from './claims.ts'
import { type ExportParams, type Exports, mayUseContent } from './exports.ts'

/** What authorization knows of a request: it selects the user as whom the view acts. */
export type AskingContext<P extends Params> = Omit<RequestContext<P>, 'actAs'>

/** Authorizes and explains requests to a view whose content is a right, and selects the user as whom the view acts. */
export interface ContentAuthorizer<P extends Params> {
  authorize(ctx: AskingContext<P>): Promise<Decision>
  explain(ctx: AskingContext<P>): Promise<Decision>
  actAs(ctx: AskingContext<P>): UserInfo
}

type Context = AskingContext<ExportParams>

const self = 'virtual.apiexport'
const contentStep = `${self}.content`

/**
 * Checks the binding of the consumer, `apiexports/content` of the provider, the maximal permission policies of
 * claimed exports, and the logical cluster of the consumer (kcp `pkg/virtual/apiexport/authorizer`). All have to
 * allow; the client reads only `access denied`.
 */
export function exportAuthorizer(host: Host, exports: Exports): ContentAuthorizer<ExportParams> {
  const content = async (ctx: Context): Promise<Decision> =>
    clusterDecision(ctx.params.provider, contentStep, await mayUseContent(host, ctx, ctx.params))
  const stepsFor = (ctx: Context): readonly ViewStep[] => {
    const object = exports.find(ctx.params)
    const { provider: cluster } = ctx.params
    if (object === undefined) return [() => ({ ...deny('no such APIExport', self), cluster })]
    return [
      () => boundApi(ctx, object, exports),
      () => content(ctx),
      () => maximalPermissions(ctx, object, host, exports),
      () => inCluster(ctx, host),
    ]
  }
  return {
    async authorize(ctx) {
      const answers = await decideUntilRefused(stepsFor(ctx))
      const decision = viewDecision(self, answers)
      if (decision.effect === 'allow') return decision
      const asked = answers.find(({ authorizer }) => authorizer === contentStep)
      return { ...decision, ...hintFrom(asked ?? (await content(ctx))) }
    },
    explain: async ctx => ({
      ...viewDecision(self, await decideAll(stepsFor(ctx))),
      cluster: ctx.params.provider,
    }),
    actAs: ctx => actAs(ctx, loopback),
  }
}

/** The checks of the view beside the permission of the user: what it shows the provider at most. */
export const consumerSteps = (
  ctx: Context,
  object: APIExport,
  { host, exports }: { readonly host: Host; readonly exports: Exports },
): readonly ViewStep[] => [
  () => boundApi(ctx, object, exports),
  () => maximalPermissions(ctx, object, host, exports),
  () => inCluster(ctx, host),
]

/** The hint depends only on the right to the content, so that it does not reveal other objects. */
function hintFrom({ effect, hint }: Decision): Pick<Decision, 'hint'> {
  const explain = '"oriel explain" shows what is missing'
  if (effect === 'allow')
    return { hint: `the content of this API export is open to you, but not for this request; ${explain}` }
  if (hint === undefined) return {}
  return { hint: `you have access to the workspace of this API export, but not to its content; ${explain}` }
}

/** Checks the binding in a single logical cluster; for `*` and discovery only the content right decides. */
function boundApi(ctx: Context, object: APIExport, exports: Exports): Decision {
  const { cluster, params } = ctx
  return { ...bindingAllows(ctx, object, exports), cluster: cluster === '*' ? params.provider : cluster }
}

function bindingAllows({ cluster, info, params }: Context, object: APIExport, exports: Exports): Decision {
  const by = `${self}.boundapi`
  if (!info.isResource) return allow('not about one binding', by)
  if (cluster === '*')
    return isUnclaimed(object, info)
      ? deny('the API export does not claim the resource with this verb', by)
      : allow('not about one binding', by)
  const binding = exports.bindingIn(cluster, params)
  if (binding === undefined) return deny('could not find suitable APIBinding in target logical cluster', by)
  if (isBound(binding, object, info)) return allow('bound resource', by)
  if (isClaimed(binding, object, info)) return allow('accepted permission claim', by)
  if (info.group === apisGroup && info.resource === 'apibindings') return ownBinding(info, by)
  return deny('failed to find suitable reason to allow access in APIBinding', by)
}

const ownBinding = ({ verb }: ResourceRequest, by: string): Decision =>
  ['get', 'list', 'watch'].includes(verb)
    ? allow('bindings are always readable', by)
    : noOpinion('write access to APIBinding is not allowed from virtual workspace', by)

/** Whether the binding serves the resource with the identity of the export. */
const isBound = (binding: APIBinding, object: APIExport, info: ResourceRequest): boolean =>
  (binding.status?.boundResources ?? []).some(
    ({ group, resource, schema }) =>
      group === info.group &&
      resource === info.resource &&
      (schema?.identityHash ?? object.status?.identityHash) === object.status?.identityHash,
  )

/**
 * Whether the consumer accepted the first claim of the export on the resource, with its identity, and both name the
 * verb or `*`.
 */
function isClaimed(binding: APIBinding, object: APIExport, info: ResourceRequest): boolean {
  const served = object.spec?.permissionClaims?.find(claim => isAbout(claim, info))
  if (served === undefined || !names(served, info.verb)) return false
  return (binding.spec?.permissionClaims ?? []).some(
    claim => claim.state === 'Accepted' && sameClaim(claim, served) && names(claim, info.verb),
  )
}

/** Whether the export claims the resource, but not with this verb. Its own resources and bindings are always readable. */
function isUnclaimed({ spec }: APIExport, info: ResourceRequest): boolean {
  if (info.group === apisGroup && info.resource === 'apibindings') return false
  if (spec?.resources?.some(({ group, name }) => group === info.group && name === info.resource)) return false
  const claim = spec?.permissionClaims?.find(each => isAbout(each, info))
  return claim !== undefined && !names(claim, info.verb)
}

const isAbout = (claim: PermissionClaim, info: ResourceRequest): boolean =>
  claim.resource === info.resource &&
  claimedGroup(claim.group, claim.resource) === claimedGroup(info.group, info.resource)

const names = ({ verbs = [] }: PermissionClaim, verb: string): boolean =>
  verbs.includes(verb) || verbs.includes('*')

/** The maximal permission policies of all exports with the claimed identity have to allow the request. */
async function maximalPermissions(
  ctx: Context,
  object: APIExport,
  host: Host,
  exports: Exports,
): Promise<Decision> {
  const by = `${self}.maxpermissionpolicy`
  const { info, user } = ctx
  if (!info.isResource) return allow('not about a resource', by)
  const claim = object.spec?.permissionClaims?.find(c => isAbout(c, info))
  if (!claim?.identityHash) return allow('no claim by identity', by)
  const providers = exports.byIdentity(claim.identityHash)
  if (providers.length === 0) return { ...deny('no API export has the claimed identity', by), cluster: '' }
  for (const { key, object: provider } of providers) {
    if ((provider as APIExport).spec?.maximalPermissionPolicy?.local === undefined) continue
    const action = { ...actionOf(info, key.cluster), deep: true }
    const decision = await decisionBy(host.backend.authorizer, { user: policyUser(user), action }, ctx)
    if (decision.effect !== 'allow')
      return clusterDecision(key.cluster, by, { ...decision, effect: 'no opinion' })
  }
  return allow('all claimed API exports granted access', by)
}

/**
 * Checks the request in the logical cluster of the consumer. The warrant grants access and RBAC there; the phase
 * and the policies of bound exports still apply.
 */
export async function inCluster(ctx: Context, { backend }: Host): Promise<Decision> {
  const { cluster, info } = ctx
  const by = `${self}.cluster`
  if (cluster === '*' || !info.isResource) return allow('not about one logical cluster', by)
  const question = { user: actAs(ctx, loopback), action: actionOf(info, cluster) }
  const decision = await decisionBy(backend.authorizer, question, ctx)
  return clusterDecision(cluster, by, decision)
}

/**
 * The user with the prefix of policies, without the scopes of service accounts: the policy is in another logical
 * cluster.
 */
function policyUser(user: UserInfo): UserInfo {
  const { extra, ...named } = bindingUser(user)
  if (extra === undefined || !user.name.startsWith('system:serviceaccount:')) return bindingUser(user)
  const { [scopesKey]: _scopes, [clusterNameKey]: _home, ...kept } = extra
  return { ...named, extra: kept }
}

/**
 * The user in the backend: in one logical cluster the caller with a warrant for it; over all of them the server
 * itself (kcp `pkg/virtual/apiexport/builder`).
 */
export function actAs({ user, cluster }: Context, privileged: UserInfo): UserInfo {
  if (cluster === '*') return privileged
  const warrant = JSON.stringify({
    user: 'system:serviceaccount:default:rest',
    groups: [kcpAdmin],
    extra: { [clusterNameKey]: [cluster] },
  })
  const warrants = [...(user.extra?.[warrantKey] ?? []), warrant]
  return { ...user, extra: { ...user.extra, [warrantKey]: warrants } }
}
