// kcp's groups that the chain knows by name (chapter 30, sections 2.4 to 2.7).

export const kcpAdmin = 'system:kcp:admin'
export const logicalClusterAdmin = 'system:kcp:logical-cluster-admin'
export const externalLogicalClusterAdmin = 'system:kcp:external-logical-cluster-admin'
export const workspaceBootstrapper = 'system:kcp:tenancy:workspace-bootstrapper'

const lifecyclePrefixes = ['system:kcp:initializer:', 'system:kcp:terminator:']

/** Given by the lifecycle views to requests that they have already judged; never by anybody else. */
export const isLifecycleGroup = (group: string): boolean =>
  lifecyclePrefixes.some(prefix => group.startsWith(prefix))
