import { parseServiceAccount, serviceAccountGroups } from '../framework/authn/accountname.ts'
import { authenticated } from '../framework/authn/authentication.ts'
import { ofWorkspace } from '../framework/authn/jwt/claims.ts'
import type { ClusterName } from '../framework/meta/object.ts'
import type { UserInfo } from '../framework/request/user.ts'

/**
 * Of what a shard says about a user, what the shard of a logical cluster may say: a service account of it, or a user of its issuers.
 * Other shards get no user of the system, no group of it, no warrant and no other logical cluster. Throws `TokenError` for a user of
 * the system.
 */
export function userAt(cluster: ClusterName, user: UserInfo): UserInfo {
  const account = parseServiceAccount(user.name)
  if (account === undefined) return ofWorkspace(user, cluster)
  // Its name is that of the system, which issuers must not assert.
  const named = ofWorkspace({ ...user, name: account.name }, cluster)
  const groups = serviceAccountGroups(account.namespace)
  return authenticated({ ...named, name: user.name, groups })
}
