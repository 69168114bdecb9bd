import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { ShardAnswer, ShardConnection } from '../connection/connection.ts'
import { identityFields } from '../connection/identity.ts'
import type { ShardRequest } from '../connection/request.ts'
import type { Flights } from './listcoalescer.ts'

/** Whose rights apply, and until when somebody waits. */
export type Asker = Pick<RequestContext, 'actAs' | 'hops' | 'signal'>

/** One resource on one shard. */
export interface Source {
  readonly ref: ResourceRef
  /** Asks as whom the request acts for. Throws what the shard refuses with. */
  /** Where equal lists meet; each is asked for by itself without. */
  readonly flights?: Flights
  ask(asker: Asker, request: Omit<ShardRequest, 'signal'>): Promise<ShardAnswer>
}

export const sourceOf = (connection: ShardConnection, ref: ResourceRef, flights?: Flights): Source => ({
  ref,
  ...(flights && { flights }),
  ask: (asker, request) =>
    connection.ask({
      ...request,
      headers: { ...request.headers, ...identityFields(asker) },
      signal: asker.signal,
    }),
})
