import { aborted } from '../../framework/async/awaitable.ts'
import { defineVirtualWorkspace } from '../../framework/index.ts'
import { workspaceApis } from '../shared/access/workspaceapis.ts'
import { grantsAdmission, selectorAdmission } from '../shared/exports/admission.ts'
import { exportApis } from '../shared/exports/exportapis.ts'
import { watchExports } from '../shared/exports/exports.ts'
import { tokensAdmission } from '../shared/exports/grantedtokens.ts'
import { ClusterIndex } from '../shared/facts/clusterindex.ts'
import { claimAdmission, ownAdmission } from './admission.ts'
import { ViewApis } from './apis.ts'
import { viewAuthorizer } from './authorizer.ts'
import { viewPublisher } from './publisher.ts'
import { ownSources } from './sources.ts'
import { ViewStatuses } from './status.ts'

/** The virtual workspaces that View objects declare. See README.md beside this file. */
export const views = defineVirtualWorkspace('views', '/services/views/:owner/:view', host => {
  const exports = watchExports(host)
  const clusters = new ClusterIndex(host)
  const statuses = new ViewStatuses(host, () => apis)
  const apis = new ViewApis({
    host,
    exportApis: exportApis(host, exports, ({ provider }) => apis.refresh(provider)),
    personal: workspaceApis(host),
    clusters,
    failed: statuses.failed,
  })
  for (const source of ownSources)
    host.informers.for(source).onEvent(({ item }) => apis.refresh(item.key.cluster))
  return {
    apis: params => {
      const set = apis.of(params)?.set
      return set?.resources.length ? set : undefined
    },
    ...viewAuthorizer({ host, exports, apis, clusters }),
    admission: [
      claimAdmission(apis, selectorAdmission(exports)),
      claimAdmission(apis, grantsAdmission(host, exports)),
      ownAdmission(apis, tokensAdmission(host)),
    ],
    publisher: viewPublisher(apis, host),
    run: async (ready, signal) => {
      await exports.synced
      ready()
      void clusters.run(signal)
      await Promise.all([statuses.run(signal), aborted(signal)])
    },
  }
})
