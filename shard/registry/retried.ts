import { type About, modified, notFound } from '../../framework/meta/errors.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import type { CachedItem } from '../cache/item.ts'
import { StoreConflict } from '../store/store.ts'
import type { ObjectStore } from './registry.ts'

/** Attempts before a conflict is returned to the client. */
const attempts = 64

/**
 * Repeats the write of an object, with its newest state, while other writes overtake it. Throws 404 for a missing object,
 * and 409 after too many attempts.
 */
export async function retried<T>(
  store: ObjectStore,
  key: ObjectKey,
  about: About,
  write: (current: CachedItem) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const current = await store.current(key)
    if (current === undefined) throw notFound(about)
    await current.decode()
    try {
      return await write(current)
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error
      if (attempt === attempts) throw modified(about)
      await store.settled(key, current.modified)
    }
  }
}
