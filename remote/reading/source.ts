import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ShardAnswer, ShardConnection, ShardRequest } from '../connection/connection.ts'
import { identityFields } from '../connection/identity.ts'
import type { ListCoalescer } from './listcoalescer.ts'

/** Whose rights apply, and until when somebody waits. */
export type Requester = Pick<RequestContext, 'actAs' | 'hops' | 'signal'>

/** One resource on one shard. */
export interface Source {
  readonly ref: ResourceRef
  /** Asks as whom the request acts for. Throws what the shard refuses with. */
  /** Where equal lists meet; each is asked for by itself without. */
  readonly coalescer?: ListCoalescer
  ask(requester: Requester, request: Omit<ShardRequest, 'signal'>): Promise<ShardAnswer>
}

export const sourceOf = (
  connection: ShardConnection,
  ref: ResourceRef,
  coalescer?: ListCoalescer,
): Source => ({
  ref,
  ...(coalescer && { coalescer }),
  ask: (asker, request) =>
    connection.ask({
      ...request,
      headers: { ...request.headers, ...identityFields(asker) },
      signal: asker.signal,
    }),
})
