import { bindingUser } from '../../authz/index.ts'
import {
  actionOf,
  allAnswers,
  allow,
  askedIn,
  type Decision,
  decisionBy,
  deny,
  type Host,
  loopback,
  noOpinion,
  type RequestContext,
  type ResourceRequest,
  type UserInfo,
  untilRefused,
  type ViewStep,
  viewDecision,
} from '../../framework/index.ts'
import {
  type APIBinding,
  type APIExport,
  apisGroup,
  clusterNameKey,
  kcpAdmin,
  type PermissionClaim,
  scopesKey,
  warrantKey,
} from '../../kcp/index.ts'

import { type ExportParams, type Exports, mayUseContent } from '../shared/exports/exports.ts'

import { claimedGroup, sameClaim } from './claims.ts'

type Context = Omit<RequestContext<ExportParams>, 'actAs'>

/** Who may use the view, and why. */
export interface ExportAuthorizer {
  authorize(ctx: Context): Promise<Decision>
  explain(ctx: Context): Promise<Decision>
}

const self = 'virtual.apiexport'
const contentStep = `${self}.content`

/**
 * First what the consumer's binding allows, then the provider's `apiexports/content`, then the policies of claimed
 * exports, at last the consumer's logical cluster (chapter 10, section 3.5). Every step must allow; a client reads only
 * `access denied`.
 */
export function exportAuthorizer(host: Host, exports: Exports): ExportAuthorizer {
  const content = async (ctx: Context): Promise<Decision> =>
    askedIn(ctx.params.provider, contentStep, await mayUseContent(host, ctx, ctx.params))
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
      const answers = await untilRefused(stepsFor(ctx))
      const decision = viewDecision(self, answers)
      if (decision.effect === 'allow') return decision
      const asked = answers.find(({ authorizer }) => authorizer === contentStep)
      return { ...decision, ...hintFrom(asked ?? (await content(ctx))) }
    },
    explain: async ctx => ({
      ...viewDecision(self, await allAnswers(stepsFor(ctx))),
      cluster: ctx.params.provider,
    }),
  }
}

/** Depends on nothing but the right to the content: it is the same whatever exists elsewhere. */
function hintFrom({ effect, hint }: Decision): Pick<Decision, 'hint'> {
  const explain = '"oriel explain" says what is missing'
  if (effect === 'allow')
    return { hint: `the content of this API export is open to you, but not for this request; ${explain}` }
  if (hint === undefined) return {}
  return { hint: `you have access to the workspace of this API export, but not to its content; ${explain}` }
}

/** In one logical cluster, only what its binding to this export covers. `*` and discovery are decided by content alone. */
function boundApi(ctx: Context, object: APIExport, exports: Exports): Decision {
  const { cluster, params } = ctx
  return { ...bindingAllows(ctx, object, exports), cluster: cluster === '*' ? params.provider : cluster }
}

function bindingAllows({ cluster, info, params }: Context, object: APIExport, exports: Exports): Decision {
  const by = `${self}.boundapi`
  if (cluster === '*' || !info.isResource) return allow('not about one binding', by)
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

/** The binding serves the resource, and with the identity under which the view finds its objects. */
const isBound = (binding: APIBinding, object: APIExport, info: ResourceRequest): boolean =>
  (binding.status?.boundResources ?? []).some(
    ({ group, resource, schema }) =>
      group === info.group &&
      resource === info.resource &&
      (schema?.identityHash ?? object.status?.identityHash) === object.status?.identityHash,
  )

/**
 * The consumer accepted the claim that the view serves, the export's first on the resource, identity included; and both
 * name the verb (`*` names all).
 */
function isClaimed(binding: APIBinding, object: APIExport, info: ResourceRequest): boolean {
  const served = object.spec?.permissionClaims?.find(claim => isAbout(claim, info))
  if (served === undefined || !names(served, info.verb)) return false
  return (binding.spec?.permissionClaims ?? []).some(
    claim => claim.state === 'Accepted' && sameClaim(claim, served) && names(claim, info.verb),
  )
}

const isAbout = (claim: PermissionClaim, info: ResourceRequest): boolean =>
  claim.resource === info.resource &&
  claimedGroup(claim.group, claim.resource) === claimedGroup(info.group, info.resource)

const names = ({ verbs = [] }: PermissionClaim, verb: string): boolean =>
  verbs.includes(verb) || verbs.includes('*')

/** A claimed export's policy holds for the claimer too: every export with that identity must grant it. */
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
    if (decision.effect !== 'allow') return askedIn(key.cluster, by, { ...decision, effect: 'no opinion' })
  }
  return allow('all claimed API exports granted access', by)
}

/**
 * Asks the consumer's logical cluster, as which the request is then carried out. The warrant opens the cluster and its
 * RBAC; what is left are its phase and the policies of bound exports, the provider's own among them.
 */
async function inCluster(ctx: Context, { backend }: Host): Promise<Decision> {
  const { cluster, info } = ctx
  const by = `${self}.cluster`
  if (cluster === '*' || !info.isResource) return allow('not about one logical cluster', by)
  const question = { user: actAs(ctx, loopback), action: actionOf(info, cluster) }
  const decision = await decisionBy(backend.authorizer, question, ctx)
  return askedIn(cluster, by, decision)
}

/**
 * The user as policies name him. The policy lies in another logical cluster than the one that a service account is
 * scoped to, and its name says already where it is from.
 */
function policyUser(user: UserInfo): UserInfo {
  const { extra, ...named } = bindingUser(user)
  if (extra === undefined || !user.name.startsWith('system:serviceaccount:')) return bindingUser(user)
  const { [scopesKey]: _scopes, [clusterNameKey]: _home, ...kept } = extra
  return { ...named, extra: kept }
}

/**
 * Whose rights apply in the backend. In one logical cluster the caller's, with a warrant that opens that cluster and
 * nothing else; over all of them the view's own (chapter 10, section 3.4).
 */
export function actAs({ user, cluster }: Context, privileged: UserInfo): UserInfo {
  if (cluster === '*') return privileged
  const warrant = JSON.stringify({
    user: 'system:serviceaccount:default:rest',
    groups: [kcpAdmin],
    extra: { [clusterNameKey]: [cluster] },
  })
  const key = warrantKey
  return { ...user, extra: { ...user.extra, [key]: [...(user.extra?.[key] ?? []), warrant] } }
}
