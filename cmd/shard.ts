import { tokenIssuer } from '../framework/authn/index.ts'
import type { Logger } from '../framework/log.ts'
import { openShard, type Shard } from '../shard/index.ts'
import { bootstrap, kcpParts } from '../shard/kcp.ts'
import type { Store } from '../shard/store/store.ts'
import { tokenParts } from '../shard/tokens/index.ts'
import type { PreparedAuthentication } from './authentication.ts'
import { type AuthorizationParts, authorizationParts } from './authorization.ts'

export interface EmbeddedOptions {
  readonly store: Store
  /** `https://host:port`, as clients reach the server. */
  readonly url: string
  /** PEM: what clients verify the server by. Awaited only after the store has been prepared. */
  readonly rootCA: Promise<string>
  readonly authentication: PreparedAuthentication
  readonly authorization?: AuthorizationParts
  readonly log: Logger
  /** Ends everything. */
  readonly signal: AbortSignal
}

const name = 'root'

/** The logical clusters of a store, kcp's way, guarded by their own RBAC. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Shard> {
  const { store, url, authentication, log, signal } = options
  const addresses = { name, baseURL: url, externalURL: url, virtualWorkspaceURL: url }
  const tenancy = await bootstrap({ store, shard: addresses })
  const rootCA = await options.rootCA
  const kcp = kcpParts({ tenancy, shard: addresses, rootCA })
  const tokens = tokenParts({
    issuer: tokenIssuer(authentication.serviceAccounts),
    tokens: informers => authentication.over(informers).tokens,
    rootCA,
  })
  const { authorization = authorizationParts() } = options
  return openShard({
    ...kcp,
    externalUrl: url,
    store,
    log,
    signal,
    authorizer: authorization.authorizer,
    subresources: tokens.subresources,
    reviews: (authorizer, informers) => ({
      ...authorization.reviews(authorizer),
      ...tokens.reviews(authorizer, informers),
    }),
    controllers: host => [...kcp.controllers(host), ...tokens.controllers(host)],
    admission: host => [...kcp.admission(host), authorization.admission(host.backend.authorizer)],
  })
}
