import { expired } from '../../framework/meta/errors.ts'
import type { OrderPosition } from '../../framework/selectors/order.ts'

/** Where the list of one shard goes on: at its continue token, '' for its beginning; null: it has no more objects. */
export type ListPlace = string | null

/** Where a page begins. It names nothing that the user has not seen: the tokens of the shards are encrypted. */
export interface MergedStart {
  /** The version of the list, that of all its pages. */
  readonly revision: string
  /** For each shard, in the order of their names. */
  readonly places: readonly ListPlace[]
  /** The last object of the page before, of an ordered list. */
  readonly last?: OrderPosition
}

export const tokenOf = (start: MergedStart): string =>
  Buffer.from(JSON.stringify(start)).toString('base64url')

/** Throws 410 for other texts. */
export function startIn(token: string, shards: number): MergedStart {
  const start = parsed(token)
  const isValid =
    typeof start?.revision === 'string' &&
    Array.isArray(start.places) &&
    start.places.length === shards &&
    start.places.every(place => place === null || typeof place === 'string') &&
    (start.last === undefined || isPosition(start.last))
  if (isValid) return start
  throw expired(
    'The provided continue parameter is too old: the query or the shards have changed. Start the list again.',
  )
}

function parsed(token: string): MergedStart | undefined {
  try {
    return (JSON.parse(Buffer.from(token, 'base64url').toString()) as MergedStart | null) ?? undefined
  } catch {
    return undefined
  }
}

const isPosition = (last: OrderPosition | null): boolean =>
  Array.isArray(last?.id) &&
  last.id.every(text => typeof text === 'string') &&
  (last.value === null || ['string', 'number', 'boolean'].includes(typeof last.value))
