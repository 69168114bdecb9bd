import { unlessAborted } from '../../framework/async/awaitable.ts'
import type { Host, Item } from '../../framework/index.ts'
import { resources } from '../../kcp/index.ts'
import { Access } from '../shared/access/access.ts'
import type { Visibility } from '../shared/access/visibility.ts'

/** Users see the namespaces that they may get, by roles of the logical cluster or of the namespace. */
export function namespaceVisibility(host: Host): Visibility {
  const access = new Access(host)
  const namespaces = () => host.informers.for(resources.namespaces)
  return {
    access,
    async ready(signal) {
      await access.ready(signal)
      await unlessAborted(signal, namespaces().synced)
    },
    isVisible: ({ user, signal }, item) => access.allows(user, reading(item), signal),
    all: cluster => namespaces().list(cluster === '*' ? undefined : cluster),
    dependsOn: ({ key }) => [key.cluster],
    dependingOn: cluster => namespaces().list(cluster),
    elsewhere: () => [],
  }
}

const reading = ({ key: { cluster, name } }: Item) => ({
  verb: 'get',
  cluster,
  resource: { ...resources.namespaces, subresource: '', namespace: name, name },
})
