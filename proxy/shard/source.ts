import type { ResourceRef } from '../../framework/backend.ts'
import type { RequestContext } from '../../framework/context.ts'
import type { ShardAnswer, ShardConnection } from './connection.ts'
import { identityFields } from './identity.ts'
import type { ShardRequest } from './request.ts'

/** One resource on one shard. */
export interface Source {
  readonly ref: ResourceRef
  /** Asks as whom the request acts for. Throws what the shard refuses with. */
  ask(ctx: RequestContext, request: Omit<ShardRequest, 'signal'>): Promise<ShardAnswer>
}

export const sourceOf = (connection: ShardConnection, ref: ResourceRef): Source => ({
  ref,
  ask: (ctx, request) =>
    connection.ask({
      ...request,
      headers: { ...request.headers, ...identityFields(ctx) },
      signal: ctx.signal,
    }),
})
