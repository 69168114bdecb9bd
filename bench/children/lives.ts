import type { Workspace } from '../../kcp/tenancy.ts'
import type { Shard } from '../../shard/index.ts'
import { workspacesRef } from '../tools/tenants.ts'

/**
 * Reports the state of workspaces to the benchmark that creates and deletes them; follows events, so that waiting for
 * thousands costs nothing.
 */
export interface Lives {
  /** The logical cluster of a workspace, when it is Ready. */
  ready(name: string): Promise<string>
  /** The number of workspaces, Ready or not. */
  count(): number
  /** Resolves when none of those that were Ready exists. */
  gone(): Promise<void>
}

export function followLives(shard: Shard): Lives {
  const ref = workspacesRef(shard)
  const clusters = new Map<string, string>()
  const waiting = new Map<string, (cluster: string) => void>()
  let empty: () => void = () => undefined
  const remove = (name: string): void => {
    if (clusters.delete(name) && clusters.size === 0) empty()
  }
  shard.informers.for(ref).onEvent(({ type, item }) => {
    const { name } = item.key
    if (type === 'DELETED') return remove(name)
    if (item.meta.labels['tenancy.kcp.io/phase'] !== 'Ready' || clusters.has(name)) return
    const { cluster = '' } = (item.object as Workspace).spec ?? {}
    clusters.set(name, cluster)
    waiting.get(name)?.(cluster)
    waiting.delete(name)
  })
  return {
    ready: async name => clusters.get(name) ?? new Promise(resolve => void waiting.set(name, resolve)),
    count: () => shard.cache.resource(ref.group, ref.resource, ref.identity ?? '').count(),
    gone: async () => {
      if (clusters.size === 0) return
      await new Promise<void>(resolve => {
        empty = resolve
      })
    },
  }
}

/** Simulates fifteen minutes without changes: older watches cannot be resumed. */
export function forget({ cache }: Shard): void {
  for (let minute = 0; minute <= 15; minute++) for (const resource of cache.resources()) resource.age()
}
