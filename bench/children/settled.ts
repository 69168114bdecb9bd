import { setImmediate as turn } from 'node:timers/promises'
import type { Shard } from '../../shard/index.ts'
import { now } from './churn.ts'

export interface Settling {
  readonly path: string
  readonly exists: boolean
}

/** The time, by `now`, at which a condition became true; checked in every turn of the event loop. */
export async function moment(isSo: () => boolean): Promise<number> {
  while (!isSo()) await turn()
  return now()
}

/** The time at which a path started or stopped to resolve to a logical cluster of the shard. */
export const settled = ({ backend }: Shard, { path, exists }: Settling): Promise<number> =>
  moment(() => (backend.resolve(path) !== undefined) === exists)
