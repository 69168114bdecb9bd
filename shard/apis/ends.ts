import type { ClusterName } from '../../framework/object.ts'
import type { ResourceStorage } from '../../framework/storage.ts'

/** Ends the watches of one resource in one logical cluster when its definition changes (chapter 40, rule 7.49). */
export interface WatchEnds {
  /** A signal that aborts at the next `end`; `close` when the watch is over. */
  open(cluster: ClusterName, groupResource: string): WatchLease
  end(cluster: ClusterName, groupResource: string): void
}

export interface WatchLease {
  readonly signal: AbortSignal
  close(): void
}

export function createWatchEnds(): WatchEnds {
  const open = new Map<string, { readonly controller: AbortController; users: number }>()
  const idOf = (cluster: ClusterName, groupResource: string): string => `${cluster}/${groupResource}`
  return {
    open(cluster, groupResource) {
      const id = idOf(cluster, groupResource)
      const entry = open.get(id) ?? { controller: new AbortController(), users: 0 }
      open.set(id, entry)
      entry.users++
      const close = (): void => {
        entry.users--
        if (entry.users === 0 && open.get(id) === entry) open.delete(id)
      }
      return { signal: entry.controller.signal, close }
    },
    end(cluster, groupResource) {
      const id = idOf(cluster, groupResource)
      const entry = open.get(id)
      open.delete(id)
      entry?.controller.abort()
    },
  }
}

/** The same storage, whose watches of one cluster end with the definition under which they were opened. */
export const withWatchEnds = (
  storage: ResourceStorage,
  ends: WatchEnds,
  groupResource: string,
): ResourceStorage => ({
  ...storage,
  async *watch(ctx, query) {
    if (query.cluster === '*') return yield* storage.watch(ctx, query)
    const lease = ends.open(query.cluster, groupResource)
    try {
      const signal = AbortSignal.any([ctx.signal, lease.signal])
      return yield* storage.watch({ ...ctx, signal }, query)
    } finally {
      lease.close()
    }
  },
})
