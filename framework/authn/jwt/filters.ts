import type { ClusterName } from '../../meta/object.ts'
import { clusterNameKey, scopeOf, scopesKey, type UserInfo } from '../../request/user.ts'
import { authenticated } from '../authenticated.ts'
import { TokenError } from '../token.ts'

const isSystem = (name: string): boolean => name.startsWith('system:')

/** The user without groups of the system; throws `TokenError` for a name of the system: no issuer gives those. */
export function withoutSystem(user: UserInfo): UserInfo {
  if (isSystem(user.name)) throw new TokenError('system usernames are not admitted')
  const groups = [...new Set(user.groups)].filter(group => !isSystem(group)).toSorted()
  return authenticated({ ...user, groups })
}

/**
 * A user whom only one workspace knows (chapter 30, section 1.6): nothing of the system's and nothing of kcp's, confined
 * to the logical cluster of the request.
 */
export function ofWorkspace(user: UserInfo, cluster: ClusterName): UserInfo {
  const { extra = {}, ...rest } = withoutSystem(user)
  const own = Object.entries(extra).filter(([key]) => !key.toLowerCase().includes('kcp.io'))
  const where = { [scopesKey]: [scopeOf(cluster)], [clusterNameKey]: [cluster] }
  return Object.freeze({ ...rest, extra: { ...Object.fromEntries(own), ...where } })
}
