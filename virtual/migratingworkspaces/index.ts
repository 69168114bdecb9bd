import {
  allow,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type UserInfo,
  type WorkspaceFactory,
} from '../../framework/index.ts'
import { notServed } from '../../framework/meta/errors.ts'
import type { PathPattern } from '../../framework/request/path.ts'
import { externalLogicalClusterAdmin } from '../../kcp/index.ts'

const dumps = '/apis/migration.kcp.io/v1alpha1/logicalclusterdumps'

const define = defineVirtualWorkspace('migratingworkspaces', '/services/migratingworkspaces', () => ({
  apis: () => undefined,
  authorize: async ({ user }) => isShard(user),
  guard: async ({ info }) => {
    if (info.path !== dumps) throw notServed()
  },
  otherwise: 'forward',
}))

/** Dumps of logical clusters for the shard that they move to. See README.md beside this file. */
export const migratingworkspaces: WorkspaceFactory = host => {
  const view = define(host)
  return { ...view, path: ofOneCluster(view.path) }
}

/** Without `*`: one logical cluster moves at a time. */
const ofOneCluster = (path: PathPattern): PathPattern => ({
  ...path,
  parse: url => {
    const found = path.parse(url)
    return found?.cluster === '*' ? undefined : found
  },
})

function isShard({ groups }: UserInfo): Decision {
  const authorizer = 'virtual.migratingworkspaces'
  return groups.includes(externalLogicalClusterAdmin)
    ? allow('another shard', authorizer)
    : deny(`user is not in group ${externalLogicalClusterAdmin}`, authorizer)
}
