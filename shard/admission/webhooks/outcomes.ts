import { atMost } from '../../../framework/async/atmost.ts'
import { Pace } from '../../../framework/async/awaitable.ts'

/** Calls of one write at a time. Kubernetes makes all of them at once, whose handshakes would block other requests. */
const mostAtOnce = 16

/**
 * The values of calls for all items, in their order. The calls begin between the turns of other requests.
 * Rejects with the first reason in their order when all calls have ended.
 */
export async function outcomes<T, R>(
  items: readonly T[],
  call: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const pace = new Pace()
  const inOrder = atMost(mostAtOnce)
  const all = await Promise.allSettled(
    items.map(item =>
      inOrder(async () => {
        await pace.due()
        return call(item)
      }),
    ),
  )
  return all.map(outcome => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
