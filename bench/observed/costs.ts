import { encodeRequest } from '../tools/connection.ts'
import { load } from '../tools/load.ts'
import { processorTime } from '../tools/process.ts'
import type { Row } from '../tools/result.ts'
import type { Side } from '../tools/sides.ts'
import { median } from '../tools/statistics.ts'

const collection = '/clusters/root/api/v1/namespaces/default/configmaps'

let created = 0

/** A CREATE of an object of 1 KiB, and a GET, each of which is another request. */
export const requests = {
  CREATE: {
    status: 201,
    next: (): Buffer => {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `bench-${created++}` },
        data: { text: 'x'.repeat(860) },
      }
      return encodeRequest({ method: 'POST', path: collection, body: JSON.stringify(object) })
    },
  },
  GET: { status: 200, next: (): Buffer => encodeRequest({ path: `${collection}/kube-root-ca.crt` }) },
} as const

export interface Work {
  readonly kind: keyof typeof requests
  readonly milliseconds: number
  /** Milliseconds that each of four connections waits after a response. */
  readonly rest?: number
}

/** Milliseconds of processor time of the server for one request, with all that the server does meanwhile. */
export async function costOf(
  { address, pid }: Side,
  { kind, milliseconds, rest = 0 }: Work,
): Promise<number> {
  const { status, next } = requests[kind]
  let sent = 0
  const request = (): Buffer => {
    sent++
    return next()
  }
  const before = await processorTime(pid)
  await load(address, { connections: 4, milliseconds, rest, status, request })
  return (((await processorTime(pid)) - before) * 1_000) / sent
}

/** Costs by round, so that both of a round met the same disturbances of the machine. */
export interface Paired {
  readonly changed: readonly number[]
  readonly base: readonly number[]
}

/** The median of the ratios of the rounds, against the median of the base. */
export function pairedRow(
  row: Pick<Row, 'id' | 'measure' | 'unit'>,
  what: string,
  { changed, base }: Paired,
): Row {
  const against = median(base)
  const ratio = median(changed.map((value, i) => value / (base[i] ?? Number.NaN)))
  return { ...row, value: ratio * against, against: { what, value: against } }
}
