import type { Backend } from '../contract/backend.ts'
import { impersonate } from '../impersonation/impersonate.ts'
import { requestedIdentity } from '../impersonation/requestedidentity.ts'
import { refuseBareUrl } from './access.ts'
import type { Routed } from './dispatch.ts'
import { locate } from './locate.ts'
import { shardCluster } from './routes.ts'

/** The same request by the user that its impersonation headers name. */
export async function impersonated(backend: Backend, exchange: Routed): Promise<Routed> {
  const { target, user: requestor, lifetime } = exchange
  const requested = requestedIdentity(exchange.incoming.credentials)
  refuseBareUrl(exchange)
  const { authorizer } = backend
  const { signal } = lifetime
  const { info } = target
  const cluster = await locate(backend, target.cluster ?? shardCluster, { user: requestor, info, lifetime })
  const { user, constraint } = await impersonate({ requestor, requested, cluster, info, authorizer, signal })
  exchange.record.annotate('impersonated', user.name)
  exchange.audit?.as(user, constraint)
  exchange.user = user
  exchange.requestor = requestor
  return exchange
}
