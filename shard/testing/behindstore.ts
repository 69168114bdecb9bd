import type { Store } from '../store/store.ts'

/** The store of a second server, whose watches can be late. */
export interface BehindStore extends Store {
  /** Its watches get nothing more until the server commits or asks for the newest revision. */
  fallBehind(): void
}

/** Another view of a store, as of a server that shares it: closing it does not close the store. */
export function behindStore(shared: Store): BehindStore {
  let late = Promise.resolve()
  let catchUp = (): void => undefined
  const caughtUp = async <T>(result: Promise<T>): Promise<T> => result.finally(() => catchUp())
  return {
    isShared: true,
    failed: shared.failed,
    get revision() {
      return shared.revision
    },
    get compacted() {
      return shared.compacted
    },
    get: key => shared.get(key),
    range: (...asked) => shared.range(...asked),
    compact: revision => shared.compact(revision),
    latest: () => caughtUp(shared.latest()),
    commit: (...asked) => caughtUp(shared.commit(...asked)),
    async *watch(...asked) {
      for await (const events of shared.watch(...asked)) {
        await late
        yield events
      }
    },
    close: () => Promise.resolve(),
    fallBehind() {
      late = new Promise(resolve => {
        catchUp = resolve
      })
    },
  }
}
