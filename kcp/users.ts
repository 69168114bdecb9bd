import { systemMasters, type UserInfo } from '../framework/request/user.ts'

// Groups and `extra` keys of users that kcp gives a meaning.

export { clusterNameKey, scopesKey, warrantKey } from '../framework/request/user.ts'

export const kcpAdmin = 'system:kcp:admin'
export const logicalClusterAdmin = 'system:kcp:logical-cluster-admin'
export const externalLogicalClusterAdmin = 'system:kcp:external-logical-cluster-admin'
export const workspaceBootstrapper = 'system:kcp:tenancy:workspace-bootstrapper'

/** Groups that are exempt from checks of logical clusters (kcp `pkg/admission/logicalcluster`). */
const exempt: readonly string[] = [
  systemMasters,
  logicalClusterAdmin,
  externalLogicalClusterAdmin,
  workspaceBootstrapper,
]

/** Whether the user is a server, or has its permissions. */
export const isSystem = ({ groups }: UserInfo): boolean => groups.some(group => exempt.includes(group))

const lifecyclePrefixes = ['system:kcp:initializer:', 'system:kcp:terminator:']

/** Only the lifecycle views add these groups, to requests that they have authorized. */
export const isLifecycleGroup = (group: string): boolean =>
  lifecyclePrefixes.some(prefix => group.startsWith(prefix))
