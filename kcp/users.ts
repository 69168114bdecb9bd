// Groups and `extra` keys of users that kcp gives a meaning.

export { clusterNameKey, scopesKey, warrantKey } from '../framework/request/user.ts'

export const kcpAdmin = 'system:kcp:admin'
export const logicalClusterAdmin = 'system:kcp:logical-cluster-admin'
export const externalLogicalClusterAdmin = 'system:kcp:external-logical-cluster-admin'
export const workspaceBootstrapper = 'system:kcp:tenancy:workspace-bootstrapper'

const lifecyclePrefixes = ['system:kcp:initializer:', 'system:kcp:terminator:']

/** Only the lifecycle views add these groups, to requests that they have authorized. */
export const isLifecycleGroup = (group: string): boolean =>
  lifecyclePrefixes.some(prefix => group.startsWith(prefix))
