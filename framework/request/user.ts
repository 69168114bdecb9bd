/**
 * The user of a request (`user.Info` of `k8s.io/apiserver`): the result of authentication and the input of
 * authorization. Never modified: a view that acts as another user returns a new object.
 */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The group that bypasses authorization (rules.md 9.8). */
export const systemMasters = 'system:masters'
/** The group of all authenticated users (rules.md 9.4). */
export const systemAuthenticated = 'system:authenticated'
/** The group of the anonymous user (rules.md 9.4). */
export const systemUnauthenticated = 'system:unauthenticated'

/** The user of requests without credentials: `system:anonymous` (rules.md 9.4). */
export const anonymous: UserInfo = Object.freeze({
  name: 'system:anonymous',
  groups: [systemUnauthenticated],
})

/** The user of the server itself, a member of `system:masters`. No credentials authenticate as it. */
export const loopback: UserInfo = Object.freeze({ name: 'system:apiserver', groups: [systemMasters] })

/** Whether a user is in `system:masters`. */
export const isPrivileged = (user: UserInfo): boolean => user.groups.includes(systemMasters)

// Keys of `extra` (kcp `pkg/authentication`, `pkg/authorization`; `k8s.io/apiserver/pkg/authentication/user`).

/** The logical cluster of a service account. */
export const clusterNameKey = 'authentication.kcp.io/cluster-name'
/** The logical clusters in which a user is valid: `cluster:<name>`, alternatives separated by commas; all values must match. */
export const scopesKey = 'authentication.kcp.io/scopes'
/** Further users, as JSON, whose permissions are added to those of the user. */
export const warrantKey = 'authorization.kcp.io/warrant'
/** The ID of the credential: `JTI=…`, `X509SHA256=…`. */
export const credentialKey = 'authentication.kubernetes.io/credential-id'

export const scopeOf = (cluster: string): string => `cluster:${cluster}`

const serviceAccountPrefix = 'system:serviceaccount:'

/** Whether a user name is that of a service account: `system:serviceaccount:<namespace>:<name>`. */
export const isServiceAccount = (user: string): boolean => user.startsWith(serviceAccountPrefix)

/**
 * The name under which the requests of a user are counted: for service accounts and users of a logical cluster's issuers
 * the cluster, because it can create any number of them. An impersonated user counts as the requestor, who may be
 * permitted to impersonate any number, except for a privileged one: a shard impersonates all users. '' without a user.
 */
export const accountOf = (user: UserInfo | undefined, requestor = user): string => {
  const counted = requestor === undefined || isPrivileged(requestor) ? user : requestor
  if (counted === undefined) return ''
  const { name, extra } = counted
  const home = extra?.[clusterNameKey]?.[0]
  return home === undefined ? accountNamed(name) : scopeOf(home)
}

/** Names are chosen by users or their issuers: none is the account of a logical cluster, or of another name. */
const accountNamed = (name: string): string => (/^(cluster|user):/.test(name) ? `user:${name}` : name)

/** `authentication.k8s.io/v1 UserInfo`: a user in responses and audit events. */
export interface PrintedUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: UserInfo['extra'] & object
}

export const printUser = ({ name, uid, groups, extra }: UserInfo): PrintedUser => ({
  username: name,
  ...(uid === undefined ? {} : { uid }),
  groups,
  ...(extra === undefined ? {} : { extra }),
})
