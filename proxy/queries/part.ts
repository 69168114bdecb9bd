import { StatusError } from '../../framework/meta/errors.ts'
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

/** The user can access nothing on the shard that has the resource. */
const isAbsent = (error: unknown): boolean => error instanceof StatusError && error.code === 404

/**
 * The results of all parts; undefined for those without the resource. Rejects with the first other error, and with 404 if no part has
 * the resource.
 */
export async function askAll<T>(
  parts: readonly ShardPart[],
  ask: (part: ShardPart, index: number) => Promise<T>,
): Promise<readonly (T | undefined)[]> {
  const settled = await Promise.allSettled(parts.map(ask))
  const errors = settled.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const failure =
    errors.find(error => !isAbsent(error)) ?? (errors.length === parts.length ? errors[0] : undefined)
  if (failure !== undefined) throw failure
  return settled.map(each => (each.status === 'fulfilled' ? each.value : undefined))
}
