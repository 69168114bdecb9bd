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
