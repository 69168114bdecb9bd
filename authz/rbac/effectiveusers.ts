import { parseWarrant, printWarrant } from '../../framework/impersonation/requestedidentity.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import {
  anonymous,
  clusterNameKey,
  scopesKey,
  systemAuthenticated,
  systemUnauthenticated,
  type UserInfo,
  warrantKey,
} from '../../framework/request/user.ts'

const serviceAccountPrefix = 'system:serviceaccount:'
const scopePrefix = 'cluster:'
/** Limits of nested warrants and of all warrants; more are ignored. */
const deepest = 8
const most = 64

export const isServiceAccount = (user: UserInfo): boolean => user.name.startsWith(serviceAccountPrefix)

/** Whether the identity is valid in a cluster: within its scopes, and a service account only in its own cluster. */
export function isInScope(user: UserInfo, cluster: ClusterName): boolean {
  if (user.extra === undefined) return true
  if (isServiceAccount(user) && isForeign(user, cluster)) return false
  return isWithinScopes(user, cluster)
}

const isWithinScopes = (user: UserInfo, cluster: ClusterName): boolean =>
  valuesOf(user, scopesKey).every(value => value.split(',').includes(scopePrefix + cluster))

/** Whether the user is a service account of this logical cluster, within its scopes. */
export const isLocalServiceAccount = (user: UserInfo, cluster: ClusterName): boolean =>
  isServiceAccount(user) && isInScope(user, cluster)

// A service account without a cluster is local, for instance in a review of a workspace.
function isForeign(user: UserInfo, cluster: ClusterName): boolean {
  const homes = valuesOf(user, clusterNameKey)
  return homes.length > 0 && !(homes.length === 1 && homes[0] === cluster)
}

const valuesOf = (user: UserInfo, key: string): readonly string[] => user.extra?.[key] ?? []

/**
 * The effective users of a user in a logical cluster: their permissions add up (`withScopes` and `withWarrants` in
 * `pkg/registry/rbac/validation/kcp.go` of kcp-dev/kubernetes). Never empty: an identity that is not valid in the cluster is
 * `system:anonymous`.
 */
export function effectiveUsers(user: UserInfo, cluster: ClusterName): readonly UserInfo[] {
  if (user.extra === undefined && !isServiceAccount(user)) return [user]
  const found: Found = { users: [], read: 0, authenticated: false, unauthenticated: false }
  collect(found, user, cluster, 0)
  const { users } = found
  if (found.authenticated) users.push(authenticatedOutsider(user))
  if (found.unauthenticated) users.push(anonymous)
  return users
}

/**
 * The user as a logical cluster knows it, for comparisons of names: in policies, for webhooks and other clusters, in Views. Somebody
 * who administers another logical cluster names its service accounts, and impersonates there any user of any group: these have no
 * name here that they chose. kcp has the same names everywhere. Of `extra`, such users have what kcp sets.
 */
export function knownUser(user: UserInfo, cluster: ClusterName): UserInfo {
  if (isInScope(user, cluster)) return user
  const { [clusterNameKey]: home, [scopesKey]: scopes } = user.extra ?? {}
  const extra = { ...(home && { [clusterNameKey]: home }), ...(scopes && { [scopesKey]: scopes }) }
  return { ...(globalServiceAccount(user) ?? outsider(user)), extra }
}

const outsider = (user: UserInfo): UserInfo =>
  user.groups.includes(systemAuthenticated) ? authenticatedOutsider(user) : anonymous

const authenticatedOutsider = (user: UserInfo): UserInfo => ({
  name: anonymous.name,
  groups: [systemAuthenticated, ...scopeGroups(user)],
})

interface Found {
  readonly users: UserInfo[]
  /** The number of warrants, also of invalid ones. */
  read: number
  /** The groups of a user who is out of scope: authenticated or not. */
  authenticated: boolean
  unauthenticated: boolean
}

function collect(found: Found, user: UserInfo, cluster: ClusterName, depth: number): void {
  if (isInScope(user, cluster)) found.users.push(user)
  else if (user.groups.includes(systemAuthenticated)) found.authenticated = true
  else found.unauthenticated = true
  const everywhere = globalServiceAccount(user)
  if (everywhere !== undefined) found.users.push(everywhere)
  if (depth === deepest) return
  for (const warrant of valuesOf(user, warrantKey)) {
    if (found.read++ >= most || found.users.length >= most) return
    const warranted = parseWarrant(warrant)
    if (warranted === undefined || isHomeless(warranted)) continue
    collect(
      found,
      { ...warranted, groups: [...warranted.groups, ...scopeGroups(warranted)] },
      cluster,
      depth + 1,
    )
  }
}

/**
 * The name of a service account in other logical clusters. It is nobody in scopes without its own logical cluster: the
 * administrators of another one may impersonate it, and get neither what it may do elsewhere, as in kcp, nor what maximal
 * permission policies allow it.
 */
function globalServiceAccount(user: UserInfo): UserInfo | undefined {
  const [home, ...others] = valuesOf(user, clusterNameKey)
  if (home === undefined || others.length > 0 || !isServiceAccount(user)) return undefined
  if (!isWithinScopes(user, home)) return undefined
  const authenticated = user.groups.filter(group => group === systemAuthenticated)
  return { name: globalName(home, user), groups: [...authenticated, ...scopeGroups(user)] }
}

const globalName = (home: ClusterName, { name }: UserInfo): string =>
  `system:kcp:serviceaccount:${home}:${name.slice(serviceAccountPrefix.length)}`

const isHomeless = (user: UserInfo): boolean =>
  isServiceAccount(user) && valuesOf(user, clusterNameKey).length === 0

/** `system:cluster:<name>` for every cluster that is in all scopes. */
function scopeGroups(user: UserInfo): readonly string[] {
  const [first, ...others] = valuesOf(user, scopesKey).map(value => new Set(value.split(',')))
  const agreed = [...(first ?? [])].filter(scope => others.every(other => other.has(scope)))
  return agreed.filter(scope => scope.startsWith(scopePrefix)).map(scope => `system:${scope}`)
}

/**
 * The user with `prefix` before its name and groups, in warrants too (`PrefixUser` in the same file). A service account has its
 * global name; without exactly one cluster it is anonymous.
 */
export function prefixUser(user: UserInfo, prefix: string): UserInfo {
  const known = isServiceAccount(user) ? globalServiceAccount(user) : user
  if (known === undefined) {
    const group = user.groups.includes(systemAuthenticated) ? systemAuthenticated : systemUnauthenticated
    return { name: prefix + anonymous.name, groups: [prefix + group] }
  }
  const groups = user.groups.map(group => prefix + group)
  const { extra, uid } = user
  const prefixed = { name: prefix + known.name, groups, ...(uid === undefined ? {} : { uid }) }
  return extra === undefined ? prefixed : { ...prefixed, extra: prefixedExtra(extra, prefix) }
}

function prefixedExtra(
  extra: NonNullable<UserInfo['extra']>,
  prefix: string,
): NonNullable<UserInfo['extra']> {
  const { [warrantKey]: warrants, ...others } = extra
  if (warrants === undefined) return extra
  const prefixed = warrants.slice(0, most).flatMap(value => {
    const warranted = parseWarrant(value)
    return warranted === undefined ? [] : printWarrant(prefixUser(warranted, prefix))
  })
  return { ...others, [warrantKey]: prefixed }
}
