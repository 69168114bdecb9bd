import { aborted } from '../../framework/async/awaitable.ts'
import { decisionBy } from '../../framework/contract/authorizer.ts'
import { allow, defineVirtualWorkspace, deny } from '../../framework/index.ts'
import { anonymous, isPrivileged } from '../../framework/request/user.ts'
import { resources } from '../../kcp/index.ts'
import { Access } from '../shared/access/access.ts'
import { ClusterIndex } from '../shared/facts/clusterindex.ts'
import { QueryApis } from './apis.ts'
import { Units } from './units.ts'
import { VisibleClusters } from './visible.ts'

const self = 'virtual.query'

/** Queries over the objects that the user may read. See README.md beside this file. */
export const query = defineVirtualWorkspace('query', '/services/query', host => {
  const access = new Access(host)
  const changes = access.history
  const visible = new VisibleClusters(host, changes)
  const clusters = new ClusterIndex(host)
  const units = new Units(host, visible)
  const apis = new QueryApis({ host, visible, units, clusters, changes })
  return {
    apis: (_params, cluster, user = anonymous) => apis.of(cluster, user),
    async authorize(ctx) {
      const { user, cluster, info } = ctx
      await access.ready(ctx.signal)
      if (cluster === '*') {
        await visible.of(user, ctx)
        return allow('each object is authorized', self)
      }
      if (isPrivileged(user)) return allow('privileged', self)
      const action = { verb: 'access', cluster, path: '/' }
      const { effect } = await decisionBy(host.backend.authorizer, { user, action }, ctx)
      if (effect !== 'allow') return deny('access denied', self)
      const isRead = !info.isResource || (await units.in({ cluster, usesWorkspaces: false }, ctx)).length > 0
      return isRead ? allow('access granted', self) : deny('access denied', self)
    },
    run: async (ready, signal) => {
      await host.informers.for(resources.logicalClusters).synced
      ready()
      void clusters.run(signal)
      await aborted(signal)
    },
  }
})
