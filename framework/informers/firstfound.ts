import type { Informer } from '../contract/informer.ts'
import type { ItemEvent } from '../contract/item.ts'

/** Resolves with the first value that `find` returns for an event or an object that is known already. Follows the informer no longer. */
export async function firstFound<T>(
  informer: Informer,
  find: (event: ItemEvent) => T | undefined,
): Promise<T> {
  let resolve = (_found: T): void => undefined
  const first = new Promise<T>(done => {
    resolve = done
  })
  const stop = informer.onEvent(event => {
    const found = find(event)
    if (found !== undefined) resolve(found)
  })
  const found = await first
  stop()
  return found
}
