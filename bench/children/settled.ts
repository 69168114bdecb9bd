import { setImmediate as turn } from 'node:timers/promises'
import type { Shard } from '../../shard/index.ts'
import { now } from './churn.ts'

export interface Settling {
  readonly path: string
  readonly exists: boolean
}

/** When something began to be true, as `now` has it; looked at in every turn of the event loop. */
export async function moment(isSo: () => boolean): Promise<number> {
  while (!isSo()) await turn()
  return now()
}

/** When a path began, or ceased, to lead to a logical cluster of the shard itself. */
export const settled = ({ backend }: Shard, { path, exists }: Settling): Promise<number> =>
  moment(() => (backend.resolve(path) !== undefined) === exists)
