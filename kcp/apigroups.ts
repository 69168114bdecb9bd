/** kcp's API groups. */

export const apisGroup = 'apis.kcp.io'
export const cacheGroup = 'cache.kcp.io'
export const coreGroup = 'core.kcp.io'
export const migrationGroup = 'migration.kcp.io'
/** KubeClusters: a group of Oriel's own in kcp's namespace for contributed mounts. */
export const mountsGroup = 'mounts.contrib.kcp.io'
export const tenancyGroup = 'tenancy.kcp.io'
export const topologyGroup = 'topology.kcp.io'
