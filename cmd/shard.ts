import { createAuthorizer, escalationPrevention, reviewStorages } from '../authz/index.ts'
import type { Logger } from '../framework/log.ts'
import { claimsDecorator } from '../shard/claims/decorator.ts'
import { clusterStatesOf } from '../shard/clusterstates.ts'
import { openShard, type Shard } from '../shard/index.ts'
import { followRbac } from '../shard/rbac.ts'
import { createRbacIndex } from '../shard/rbacindex.ts'
import type { Store } from '../shard/store/store.ts'

export interface EmbeddedOptions {
  readonly store: Store
  readonly log: Logger
  /** Ends everything. */
  readonly signal: AbortSignal
}

/** The logical clusters of a store, guarded by their own RBAC. */
export async function openEmbedded({ store, log, signal }: EmbeddedOptions): Promise<Shard> {
  const rbac = createRbacIndex()
  return openShard({
    store,
    log,
    signal,
    authorizer: informers => {
      followRbac(informers, rbac)
      return createAuthorizer({ rbac, clusters: clusterStatesOf(informers) })
    },
    reviews: authorizer => reviewStorages(authorizer, rbac),
    decorate: claimsDecorator,
    admission: ({ backend }) => [escalationPrevention(rbac, backend.authorizer)],
  })
}
