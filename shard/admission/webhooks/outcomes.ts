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
  const all: PromiseSettledResult<R>[] = []
  const pace = new Pace()
  const entries = items.entries()
  const work = async (): Promise<void> => {
    for (const [i, item] of entries) {
      await pace.due()
      const [outcome] = await Promise.allSettled([call(item)])
      all[i] = outcome
    }
  }
  await Promise.all(Array.from({ length: mostAtOnce }, work))
  return all.map(outcome => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
