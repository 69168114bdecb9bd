import { aborted } from '../../framework/async/awaitable.ts'
import { defineVirtualWorkspace, deny, loopback } from '../../framework/index.ts'
import { sliceApis } from './apis.ts'
import { sliceAuthorizer } from './authorizer.ts'
import { slicePublisher } from './publisher.ts'
import { watchSlices } from './slices.ts'

/** Resources that providers publish with ClusterCachedResources. See README.md beside this file. */
export const replication = defineVirtualWorkspace(
  'replication',
  '/services/replication/:provider/:slice',
  host => {
    const { shared } = host
    if (shared === undefined)
      return { apis: () => undefined, authorize: async () => deny('access denied', 'virtual.replication') }
    const slices = watchSlices(host, shared)
    const apis = sliceApis(shared, slices)
    return {
      apis: apis.of,
      ...sliceAuthorizer(host, slices),
      // The view reads published objects as the server itself.
      actAs: () => loopback,
      publisher: slicePublisher(slices, host),
      run: async (ready, signal) => {
        await slices.synced
        ready()
        await aborted(signal)
      },
    }
  },
)
