/**
 * Who asks. The Kubernetes `UserInfo`: what authentication found out, and all that authorization may look at.
 * Frozen once built; a view that acts for somebody else builds a new one.
 */
export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The group that bypasses authorization (chapter 40, rule 9.8). */
export const systemMasters = 'system:masters'
export const systemAuthenticated = 'system:authenticated'
export const systemUnauthenticated = 'system:unauthenticated'

/** The identity of a request without credentials (chapter 40, rule 9.4). */
export const anonymous: UserInfo = Object.freeze({
  name: 'system:anonymous',
  groups: [systemUnauthenticated],
})

/** The identity of the server's own controllers: a member of `system:masters` that never leaves the process. */
export const loopback: UserInfo = Object.freeze({ name: 'system:apiserver', groups: [systemMasters] })

export const isPrivileged = (user: UserInfo): boolean => user.groups.includes(systemMasters)

// Keys of `extra` (chapter 30, sections 1.7 and 1.8).

/** The home of an identity: one logical cluster. */
export const clusterNameKey = 'authentication.kcp.io/cluster-name'
/** Where an identity may be used: `cluster:<name>` items, alternatives within one value; all values must hold. */
export const scopesKey = 'authentication.kcp.io/scopes'
/** More identities, as JSON, whose rights add to those of the user. */
export const warrantKey = 'authorization.kcp.io/warrant'
/** Which credential was presented: `JTI=…`, `X509SHA256=…`. */
export const credentialKey = 'authentication.kubernetes.io/credential-id'

export const scopeOf = (cluster: string): string => `cluster:${cluster}`

const serviceAccountPrefix = 'system:serviceaccount:'

/** By its user name: `system:serviceaccount:<namespace>:<name>`. */
export const isServiceAccount = (user: string): boolean => user.startsWith(serviceAccountPrefix)

/** `authentication.k8s.io/v1 UserInfo`: a user in answers and audit events. */
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
