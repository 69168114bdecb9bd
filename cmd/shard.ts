import { createAuthorizer, escalationPrevention, reviewStorages } from '../authz/index.ts'
import type { Logger } from '../framework/log.ts'
import { boundExportsOf } from '../shard/boundexports.ts'
import { clusterStatesOf } from '../shard/clusterstates.ts'
import { openShard, type Shard } from '../shard/index.ts'
import { bootstrap, kcpParts } from '../shard/kcp.ts'
import { followRbac } from '../shard/rbac.ts'
import { createRbacIndex } from '../shard/rbacindex.ts'
import type { Store } from '../shard/store/store.ts'

export interface EmbeddedOptions {
  readonly store: Store
  /** `https://host:port`, as clients reach the server. */
  readonly url: string
  /** PEM: what clients verify the server by. Awaited only after the store has been prepared. */
  readonly rootCA: Promise<string>
  readonly log: Logger
  /** Ends everything. */
  readonly signal: AbortSignal
}

const name = 'root'

/** The logical clusters of a store, kcp's way, guarded by their own RBAC. */
export async function openEmbedded({ store, url, rootCA, log, signal }: EmbeddedOptions): Promise<Shard> {
  const addresses = { name, baseURL: url, externalURL: url, virtualWorkspaceURL: url }
  const tenancy = await bootstrap({ store, shard: addresses })
  const kcp = kcpParts({ tenancy, shard: addresses, rootCA: await rootCA })
  const rbac = createRbacIndex()
  return openShard({
    ...kcp,
    store,
    log,
    signal,
    authorizer: informers => {
      followRbac(informers, rbac)
      return createAuthorizer({
        rbac,
        clusters: clusterStatesOf(informers),
        exports: boundExportsOf(informers),
      })
    },
    reviews: authorizer => reviewStorages(authorizer, rbac),
    admission: host => [...kcp.admission(host), escalationPrevention(rbac, host.backend.authorizer)],
  })
}
