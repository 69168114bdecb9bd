import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ShardAnswer, ShardConnection, ShardRequest } from '../connection/connection.ts'
import { identityFields } from '../connection/identity.ts'
import type { ListCoalescer } from './listcoalescer.ts'

/** The user whose permissions apply, and the signal that aborts the request. */
export type Requester = Pick<RequestContext, 'actAs' | 'hops' | 'signal'>

/** One resource of one shard. */
export interface Source {
  readonly ref: ResourceRef
  /** Coalesces equal lists. Default: each list is sent separately. */
  readonly coalescer?: ListCoalescer
  /** Sends a request that impersonates the user. Throws the Status that the shard returned. */
  ask(requester: Requester, request: Omit<ShardRequest, 'signal'>): Promise<ShardAnswer>
}

export const sourceOf = (
  connection: ShardConnection,
  ref: ResourceRef,
  coalescer?: ListCoalescer,
): Source => ({
  ref,
  ...(coalescer && { coalescer }),
  ask: (requester, request) =>
    connection.ask({
      ...request,
      headers: { ...request.headers, ...identityFields(requester) },
      signal: requester.signal,
    }),
})
