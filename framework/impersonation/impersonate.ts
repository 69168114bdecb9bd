import { type Authorizer, actionOf, forbiddenTo } from '../contract/authorizer.ts'
import { badRequest, forbidden, type StatusError } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import {
  clusterNameKey,
  isPrivileged,
  scopeOf,
  scopesKey,
  systemAuthenticated,
  systemMasters,
  type UserInfo,
  warrantKey,
} from '../request/user.ts'
import { type ImpersonationMode, impersonationChecks, impersonationModes } from './modes.ts'
import { impersonatedUser, parseWarrant, printWarrant, type RequestedIdentity } from './requestedidentity.ts'

/** A request to impersonate a user. */
export interface Impersonation {
  readonly requestor: UserInfo
  readonly requested: RequestedIdentity
  /** The logical cluster whose policy decides, also for requests to a view. */
  readonly cluster: ClusterScope
  /** The request of the impersonated user. */
  readonly info: RequestInfo
  readonly authorizer: Authorizer
  readonly signal: AbortSignal
}

/** The user that a request acts as. */
export interface Impersonated {
  readonly user: UserInfo
  /** The verb of constrained impersonation that allowed it, for this request only: `impersonate:user-info`. */
  readonly constraint?: string
}

/**
 * The user that a request acts as, if its sender may impersonate it: groups are checked by the gatekeeper (kcp
 * `pkg/proxy`, `WithImpersonationGatekeeper`), then RBAC decides, and the user is scoped to the logical cluster that
 * allowed it (kcp `WithScopedImpersonation`). A warrant is an identity too: its sender must be allowed to impersonate
 * that user. Throws 403.
 */
export async function impersonate(impersonation: Impersonation): Promise<Impersonated> {
  const { requestor, requested, cluster } = impersonation
  if (isPrivileged(requestor))
    return impersonated(
      requested,
      impersonationModes.find(mode => mode.suits(requested)),
    )
  // No policy covers all logical clusters.
  if (cluster === '*') throw notAllowed()
  const [own, ...warranted] = identitiesIn(requested, cluster)
  for (const identity of [own, ...warranted]) pass(requestor, identity, cluster)
  const mode = await check(impersonation, own)
  for (const identity of warranted) await check(impersonation, identity)
  const { user, ...constraint } = impersonated(requested, mode)
  return { ...constraint, user: Object.freeze(confined(user, cluster)) }
}

function impersonated(requested: RequestedIdentity, mode: ImpersonationMode | undefined): Impersonated {
  const user = impersonatedUser(
    mode?.groups === undefined ? requested : { ...requested, groups: mode.groups },
  )
  return { user: Object.freeze(user), ...(mode?.on === undefined ? {} : { constraint: mode.verb }) }
}

const notAllowed = (): StatusError => forbidden(undefined, 'impersonation is not allowed for the requestor')

/** Maximum number of identities: each costs an authorization. */
const mostWarrants = 16

/** The requested identity, and those of its warrants, recursively. Throws 400 for invalid warrants. */
function identitiesIn(
  requested: RequestedIdentity,
  cluster: string,
): readonly [RequestedIdentity, ...RequestedIdentity[]] {
  const found: [RequestedIdentity, ...RequestedIdentity[]] = [requested]
  for (let i = 0; i < found.length; i++) {
    for (const value of found[i]?.extra[warrantKey] ?? []) {
      const warrant = parseWarrant(value)
      if (warrant === undefined || found.length > mostWarrants)
        throw badRequest(
          `the extra ${warrantKey} has an invalid warrant or more than ${mostWarrants} warrants`,
        )
      found.push({ uid: '', extra: {}, ...warrant })
    }
  }
  const [own, ...warranted] = found
  const atHome = (identity: RequestedIdentity): RequestedIdentity => ({
    ...identity,
    extra: withoutHome(identity.extra, cluster),
  })
  return [atHome(own), ...warranted.map(atHome)]
}

/**
 * A cluster name equal to that of the request is redundant. Another one needs permission like every extra, and gives a service
 * account that is confined to this logical cluster, where it is nobody.
 */
function withoutHome(extra: RequestedIdentity['extra'], cluster: string): RequestedIdentity['extra'] {
  const { [clusterNameKey]: homes = [], ...others } = extra
  return homes.every(home => home === cluster) ? others : extra
}

/** Groups with a meaning in kcp: only a member may impersonate them. */
const special: ReadonlySet<string> = new Set([
  systemMasters,
  systemAuthenticated,
  'system:kcp:admin',
  'system:kcp:logical-cluster-admin',
  'system:kcp:external-logical-cluster-admin',
  'system:kcp:tenancy:workspace-bootstrapper',
])
const specialPrefixes = ['system:kcp:initializer:', 'system:kcp:terminator:', 'system:cluster:']

/** Whether a group has a meaning in kcp, so that only its members may impersonate it. */
export const isSpecial = (group: string): boolean =>
  special.has(group) || specialPrefixes.some(prefix => group.startsWith(prefix))

function pass(requestor: UserInfo, { groups }: RequestedIdentity, cluster: string): void {
  const own = new Set([...requestor.groups, `system:${scopeOf(cluster)}`])
  if (groups.some(group => isSpecial(group) && !own.has(group))) throw notAllowed()
}

/** The first mode that allows it; otherwise throws the error of the first mode. */
async function check(impersonation: Impersonation, identity: RequestedIdentity): Promise<ImpersonationMode> {
  let refusal: StatusError | undefined
  for (const mode of impersonationModes) {
    if (!mode.suits(identity)) continue
    const found = await refusalIn(impersonation, identity, mode)
    if (found === undefined) return mode
    refusal ??= found
  }
  throw refusal ?? notAllowed()
}

async function refusalIn(
  { requestor, cluster, info, authorizer, signal }: Impersonation,
  identity: RequestedIdentity,
  mode: ImpersonationMode,
): Promise<StatusError | undefined> {
  for (const check of impersonationChecks(mode, identity, info)) {
    const { effect, reason, hint } = await authorizer.authorize(requestor, actionOf(check, cluster), signal)
    if (effect !== 'allow') return forbiddenTo(requestor, check, reason, hint)
  }
  return undefined
}

/** Adds a scope to the user and to all of its warrants: the rights apply in this logical cluster only. */
function confined(user: UserInfo, cluster: string): UserInfo {
  const { [scopesKey]: scopes = [], [warrantKey]: warrants, ...others } = user.extra ?? {}
  const inner = warrants?.flatMap(value => {
    const warrant = parseWarrant(value)
    return warrant === undefined ? [] : [printWarrant(confined(warrant, cluster))]
  })
  const extra = {
    ...others,
    [scopesKey]: [...scopes, scopeOf(cluster)],
    ...(inner && { [warrantKey]: inner }),
  }
  return { ...user, extra }
}
