import { isNotFound } from '../../framework/meta/statuschecks.ts'
import type { OutgoingResponse } from '../../framework/net/client.ts'

/** Query parameters that replace those of the client; undefined: the parameter is left out. */
export type Parameters = Readonly<Record<string, string | undefined>>

/** The part of a query that one shard answers. */
export interface ShardPart {
  /** The name of the shard. */
  readonly shard: string
  /** Sends the query of the client to the shard. Rejects with the Status of the shard, and with 502 and 504. */
  ask(parameters: Parameters): Promise<OutgoingResponse>
}

/**
 * The results of all parts; undefined for shards that answer 404: they do not have the resource, or nothing of it for the user.
 * Rejects with the first other error, and with 404 if all parts do.
 */
export async function askAll<T>(
  parts: readonly ShardPart[],
  ask: (part: ShardPart, index: number) => Promise<T>,
): Promise<readonly (T | undefined)[]> {
  const settled = await Promise.allSettled(parts.map(ask))
  const errors = settled.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const failure =
    errors.find(error => !isNotFound(error)) ?? (errors.length === parts.length ? errors[0] : undefined)
  if (failure !== undefined) throw failure
  return settled.map(each => (each.status === 'fulfilled' ? each.value : undefined))
}
