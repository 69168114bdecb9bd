import type { ResourceStorage } from '../../framework/contract/storage.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import { type ServedDefinition, servedName } from './served.ts'

/**
 * Ends the watches of one resource in one logical cluster when its definition changes (rules.md 7.49), and all watches
 * of a logical cluster that is deleted.
 */
export interface WatchEnds {
  /**
   * A signal that aborts at the next `end`, and is aborted when the logical cluster does not serve the definition: a
   * definition may be replaced, and a logical cluster deleted, before the watch begins. `close` when the watch is over.
   */
  open(cluster: ClusterName, served: ServedDefinition): WatchLease
  end(cluster: ClusterName, groupResource: string): void
  endAll(cluster: ClusterName): void
}

export interface WatchLease {
  readonly signal: AbortSignal
  close(): void
}

interface Entry {
  readonly controller: AbortController
  users: number
}

const noLease: WatchLease = { signal: AbortSignal.abort(), close: () => undefined }

export function createWatchEnds(
  isServed: (cluster: ClusterName, served: ServedDefinition) => boolean,
): WatchEnds {
  const open = new Map<ClusterName, Map<string, Entry>>()
  const forget = (cluster: ClusterName, groupResource: string): void => {
    const entries = open.get(cluster)
    entries?.delete(groupResource)
    if (entries?.size === 0) open.delete(cluster)
  }
  return {
    open(cluster, served) {
      if (!isServed(cluster, served)) return noLease
      const groupResource = servedName(served)
      const entries = open.get(cluster) ?? new Map<string, Entry>()
      const entry = entries.get(groupResource) ?? { controller: new AbortController(), users: 0 }
      open.set(cluster, entries.set(groupResource, entry))
      entry.users++
      const close = (): void => {
        entry.users--
        if (entry.users === 0 && open.get(cluster)?.get(groupResource) === entry)
          forget(cluster, groupResource)
      }
      return { signal: entry.controller.signal, close }
    },
    end(cluster, groupResource) {
      const entry = open.get(cluster)?.get(groupResource)
      forget(cluster, groupResource)
      entry?.controller.abort()
    },
    endAll(cluster) {
      const entries = open.get(cluster)
      open.delete(cluster)
      for (const { controller } of entries?.values() ?? []) controller.abort()
    },
  }
}

/** The same storage; watches of one cluster end when the definition under which they were opened changes. */
export const withWatchEnds = (
  storage: ResourceStorage,
  ends: WatchEnds,
  served: ServedDefinition,
): ResourceStorage => ({
  ...storage,
  async *watch(ctx, query) {
    if (query.cluster === '*') return yield* storage.watch(ctx, query)
    const lease = ends.open(query.cluster, served)
    try {
      const signal = AbortSignal.any([ctx.signal, lease.signal])
      return yield* storage.watch({ ...ctx, signal }, query)
    } finally {
      lease.close()
    }
  },
})
