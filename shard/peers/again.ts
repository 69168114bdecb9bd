import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../framework/contract/log.ts'

/** Milliseconds until a shard that could not be reached is asked again. */
const again = 1_000

/** Tries until it succeeds. Rejects when `signal` aborts. */
export async function untilReached<T>(
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
  act: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (signal.aborted) throw error
      log.warn({ error: String(error) }, 'the root shard cannot be asked yet')
      await sleep(again, undefined, { signal })
    }
  }
}
