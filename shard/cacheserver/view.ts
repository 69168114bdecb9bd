import { type ApiResource, apiSetOf } from '../../framework/contract/apis.ts'
import { type Authorizer, deny, fromMemory } from '../../framework/contract/authorizer.ts'
import type { Backend } from '../../framework/contract/backend.ts'
import type { Informers } from '../../framework/contract/informer.ts'
import type { Logger } from '../../framework/contract/log.ts'
import {
  defineVirtualWorkspace,
  type VirtualWorkspace,
  type WorkspaceFactory,
} from '../../framework/contract/workspace.ts'
import { notServed } from '../../framework/meta/errors.ts'
import { isCopy } from '../../kcp/annotations.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { apiResourcesOf } from '../../openapi/resource.ts'
import { catchUp } from '../cache/catchup.ts'
import { copiedKinds } from './kinds.ts'
import { checkShard, clusterNamed, type ShardParams } from './place.ts'
import { withPublished } from './published.ts'
import { type CopyStore, copyStorage } from './storage.ts'

const refused = deny('the user is not in the group system:masters', 'cache-server')

/** Only privileged users, whom no authorizer is asked about, use a cache server (kcp `pkg/cache/server/options/authorization.go`). */
const onlyPrivileged: Authorizer = fromMemory(() => refused)

/** A cache server has no logical clusters of its own: only its view has objects. */
const backendOf = ({ store, cache }: CopyStore): Backend => ({
  authorizer: onlyPrivileged,
  storage() {
    throw notServed()
  },
  apis: () => undefined,
  resolve: clusterNamed,
  ...(store.isShared && { caughtUp: signal => catchUp(store, cache, signal) }),
  forward: () => Promise.reject(notServed()),
})

/** Nothing in a cache server follows objects. */
const noInformers: Informers = {
  for() {
    throw notServed()
  },
}

/** The resources of a kind, in all its versions. */
const resourcesOf = (
  store: CopyStore,
  kind: KindDefinition,
  segment: string,
): readonly ApiResource<ShardParams>[] => {
  const storage = copyStorage(store, kind, segment)
  const resources = apiResourcesOf(kind, { storage, custom: true })
  return resources.map(resource => ({ ...resource, keepsSystemFields: isCopy }))
}

/** kcp's cache server, `/services/cache/shards/<shard>/clusters/<logical cluster>`, with `*` for each (kcp `pkg/cache/server`). */
const cacheView = (store: CopyStore): WorkspaceFactory =>
  defineVirtualWorkspace('cache', '/services/cache/shards/:shard', () => {
    const kinds = apiSetOf(copiedKinds.flatMap(kind => resourcesOf(store, kind, '-')))
    const apisOf = withPublished(store, kinds, (kind, identity) => resourcesOf(store, kind, identity))
    return {
      apis: (_, cluster) => apisOf(cluster),
      authorize: async () => refused,
      guard: async ({ params }) => checkShard(params.shard),
    }
  })

/** A cache server over a store, with what a server needs of it. */
export function openCacheServer({ log, ...objects }: CopyStore & { readonly log: Logger }): CacheServer {
  const backend = backendOf(objects)
  const host = { backend, informers: noInformers, log }
  return { ...host, workspaces: [cacheView(objects)(host)] }
}

/** The objects of a cache server and their view. */
interface CacheServer {
  readonly backend: Backend
  readonly informers: Informers
  readonly workspaces: readonly VirtualWorkspace[]
}
