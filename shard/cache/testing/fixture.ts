import { silent } from '../../../framework/log.ts'
import type { KubeObject, ObjectKey } from '../../../framework/object.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { Store } from '../../store/store.ts'
import { encodeStored } from '../codec.ts'
import { type StoredResource, storageKey } from '../key.ts'
import type { ResourceCache } from '../resource.ts'
import { openWatchCache, type WatchCache, type WatchCacheOptions } from '../watchcache.ts'

export const configMaps: StoredResource = { group: '', resource: 'configmaps', segment: '-' }
export const configMap = { apiVersion: 'v1', kind: 'ConfigMap' }

/** `root/default/a`. */
export function keyOf(id: string): ObjectKey {
  const [cluster = '', namespace = '', name = ''] = id.split('/')
  return { cluster, namespace, name }
}

export function objectOf(id: string, value: string, labels: Record<string, string> = {}): KubeObject {
  const { cluster, namespace, name } = keyOf(id)
  const annotations = { 'kcp.io/cluster': cluster }
  return {
    ...configMap,
    metadata: {
      annotations,
      labels,
      name,
      namespace,
      uid: `uid-${id}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    data: { value },
  }
}

/** A store with configmaps in it, and a watch cache over it. */
export interface Fixture {
  readonly store: Store
  readonly cache: WatchCache
  readonly maps: ResourceCache
  /** Writes and waits until the cache shows it; undefined deletes. Returns the revision. */
  write(id: string, value: string | undefined, labels?: Record<string, string>): Promise<number>
  close(): Promise<void>
}

export async function open(
  options: Partial<WatchCacheOptions> = {},
  store: Store = openMemoryStore(),
): Promise<Fixture> {
  const stop = new AbortController()
  const cache = await openWatchCache(store, { log: silent, signal: stop.signal, ...options })
  const maps = cache.resource('', 'configmaps', '-')
  return {
    store,
    cache,
    maps,
    async write(id, value, labels) {
      const stored = value === undefined ? undefined : encodeStored(objectOf(id, value, labels))
      const revision = await store.commit([{ key: storageKey(configMaps, keyOf(id)), value: stored }])
      await cache.at(revision)
      return revision
    },
    async close() {
      stop.abort()
      await store.close()
    },
  }
}
