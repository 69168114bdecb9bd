import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { Shard } from '../../shard/index.ts'
import { widgetsRef } from '../tools/objects.ts'
import type { Tenants } from '../tools/tenants.ts'

export interface Churn {
  readonly tenants: Tenants
  /** The number of objects, created by `fill`, that are changed in turn. */
  readonly objects: number
  /** Changes per second. */
  readonly rate: number
  readonly milliseconds: number
}

const tick = 5

/** Milliseconds since the epoch, to the microsecond; the same clock in every process of a machine. */
export const now = (): number => performance.timeOrigin + performance.now()

const stamped = (object: KubeObject): KubeObject => ({
  ...object,
  spec: { ...(object.spec as object), sentAt: stamp() },
})

/** The time in a fixed number of digits, so that every event has the same length. */
export const stamp = (): number => Math.floor(now()) + 0.5

/** Changes objects at a steady rate, as clients would; returns the number of changes. */
export async function churn(shard: Shard, { tenants, objects, rate, milliseconds }: Churn): Promise<number> {
  const begin = now()
  let changes = 0
  for (let gone = 0; gone < milliseconds; gone = now() - begin) {
    const due = Math.floor((gone * rate) / 1000)
    const pending: Promise<unknown>[] = []
    for (; changes < due; changes++) pending.push(change(shard, tenants, changes % objects))
    await Promise.all(pending)
    await sleep(tick)
  }
  return changes
}

function change({ client }: Shard, { identity, consumers }: Tenants, index: number): Promise<unknown> {
  const key = {
    cluster: consumers[index % consumers.length] ?? '',
    namespace: 'default',
    name: `widget-${index}`,
  }
  return client.update(widgetsRef(identity), key, stamped)
}
