/** kcp's API groups. */

export const apisGroup = 'apis.kcp.io'
export const cacheGroup = 'cache.kcp.io'
export const coreGroup = 'core.kcp.io'
export const migrationGroup = 'migration.kcp.io'
/** KubeClusters: a group of Oriel's own in kcp's namespace for contributed mounts. */
export const mountsGroup = 'mounts.contrib.kcp.io'
export const tenancyGroup = 'tenancy.kcp.io'
export const topologyGroup = 'topology.kcp.io'
/** Views: a group of Oriel's own. */
export const viewsGroup = 'views.oriel.dev'

/**
 * The groups of the kinds of kcp and of Oriel that every logical cluster serves. Their objects are stored like custom resources: a
 * definition in such a group would have them as its own.
 */
export const systemGroups: readonly string[] = [apisGroup, cacheGroup, coreGroup, viewsGroup]

/**
 * The groups of `k8s.io/client-go/kubernetes/scheme`. Clients send strategic merge patches for them, also where a definition
 * serves them.
 */
export const kubernetesGroups: ReadonlySet<string> = new Set([
  '',
  'admissionregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'extensions',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
])
