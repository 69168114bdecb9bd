import type { ClusterName } from '../../../framework/meta/object.ts'
import { accountOf, scopeOf } from '../../../framework/request/user.ts'
import type { LogicalCluster, WorkspaceCreator } from '../../../kcp/core.ts'

/** What counts against the limits of all logical clusters together. */
export interface Amounts {
  bytes: number
  decodedBytes: number
}

/** The part of a limit that a user or a logical cluster has used, by all its logical clusters. */
export interface Share extends Amounts {
  /** `user "alice"`, `logical cluster "x"`. */
  readonly who: string
}

/** Who has a logical cluster. The logical clusters of a user's workspace, and of all below it, have the same. */
export interface Tenant {
  /** Those of the user and of the user's workspace; that of the logical cluster if an administrator created it. */
  readonly shares: readonly Share[]
  readonly isUser: boolean
}

export interface TenantSources {
  /** The tenant of a logical cluster that exists in this server. */
  known(cluster: ClusterName): Tenant | undefined
  share(who: string): Share
}

const clusterShare = (cluster: ClusterName): string => `logical cluster "${cluster}"`

/**
 * The tenant of a logical cluster: that of the workspace above it, if a user created one of those above; otherwise the
 * user who created it. An administrator's workspaces are tenants of their own, because others work in them.
 */
export function tenantOf(cluster: ClusterName, { spec }: LogicalCluster, sources: TenantSources): Tenant {
  const above = spec?.owner && sources.known(spec.owner.cluster)
  if (above?.isUser) return above
  const own = sources.share(clusterShare(cluster))
  if (spec?.createdBy === undefined) return { shares: [own], isUser: false }
  return { shares: [creatorShare(spec.createdBy, sources), own], isUser: true }
}

/** A service account counts as the tenant of its logical cluster, who can create any number of them. */
function creatorShare({ username, groups = [], extra }: WorkspaceCreator, sources: TenantSources): Share {
  const account = accountOf({ name: username, groups, ...(extra && { extra }) })
  const prefix = scopeOf('')
  if (!account.startsWith(prefix)) return sources.share(`user "${account}"`)
  const home = account.slice(prefix.length)
  return sources.known(home)?.shares[0] ?? sources.share(clusterShare(home))
}
