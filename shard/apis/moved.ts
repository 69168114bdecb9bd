import type { ObjectMeta } from '../../framework/contract/item.ts'
import { type StatusError, serviceUnavailable } from '../../framework/meta/errors.ts'
import { incomingAnnotation, leavingAnnotation } from '../../kcp/annotations.ts'
import { movedNumbers, movesIn } from '../../kcp/migration.ts'

/** When a logical cluster came from another shard: the revision here, and the last one there. */
export interface Arrival {
  readonly here: number
  readonly there: number
}

export function arrivalIn(annotations: ObjectMeta['annotations']): Arrival | undefined {
  const [here = Number.NaN, there = Number.NaN] = movedNumbers(annotations)
  return here > 0 && there > 0 ? { here, there } : undefined
}

/** The value of the annotation after one more move. */
export const movedText = ({ here, there }: Arrival, before: ObjectMeta['annotations']): string =>
  `${here},${there},${movesIn(before) + 1}`

/** What an own logical cluster does whose objects another shard has, too. */
export function partialStateOf(annotations: ObjectMeta['annotations']): 'arriving' | 'leaving' | undefined {
  if (annotations[leavingAnnotation] !== undefined) return 'leaving'
  return annotations[incomingAnnotation] === undefined ? undefined : 'arriving'
}

/** The refusal of requests to a logical cluster that moves. */
export const beingMigrated = (): StatusError => serviceUnavailable('logical cluster is being migrated', 1)
