import type { Address } from './connection.ts'
import { processorTime } from './process.ts'
import type { Row, Target } from './result.ts'
import { alternate, median } from './statistics.ts'

/** A measured server, and its process. */
export interface Side {
  readonly address: Address
  readonly pid: number
}

/** Oriel and kcp, which do the same in turn. */
export interface Sides {
  readonly oriel: Side
  readonly kcp: Side
}

/** An amount of work and its time. */
export interface Done {
  readonly count: number
  readonly perSecond: number
}

/** A measurement, and the target of its ratio. */
export interface Measure {
  readonly id: string
  readonly measure: string
  /** The counted unit. */
  readonly unit: string
  readonly target?: Target
  readonly take: (side: Side) => Promise<Done>
}

/** How often each measurement is repeated. */
export const rounds = 3

/** By wall-clock time, which a busy machine disturbs, and by the processor time of the process, which it does not. */
export async function rowsOf(
  { id, measure, unit, target, take }: Measure,
  sides: Sides,
  what: string,
): Promise<readonly Row[]> {
  const perProcessor: Record<keyof Sides, number[]> = { oriel: [], kcp: [] }
  const takeAt = async (name: keyof Sides): Promise<number> => {
    const side = sides[name]
    const before = await processorTime(side.pid)
    const { count, perSecond } = await take(side)
    perProcessor[name].push(count / ((await processorTime(side.pid)) - before))
    return perSecond
  }
  const taken = await alternate(rounds, { kcp: () => takeAt('kcp'), oriel: () => takeAt('oriel') })
  return [
    {
      id,
      measure,
      unit: `${unit}/s`,
      value: taken.oriel,
      against: { what, value: taken.kcp },
      ...(target && { target }),
    },
    {
      id: `${id}-processor`,
      measure: `${measure}, per second of its processor time`,
      unit: `${unit}/s`,
      value: median(perProcessor.oriel),
      against: { what, value: median(perProcessor.kcp) },
    },
  ]
}
