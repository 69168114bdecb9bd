import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import type { Item, ItemEvent } from '../../../framework/contract/item.ts'
import { silent } from '../../../framework/contract/log.ts'
import type { ItemList, ItemWatch, ListMeta } from '../../../framework/contract/storage.ts'
import type { KubeObject, ObjectKey } from '../../../framework/meta/object.ts'
import { openMemoryStore } from '../../store/memory.ts'
import type { Store } from '../../store/store.ts'
import { encodeStored, type StoredResource, storageKey } from '../codec.ts'
import type { WatchCache, WatchCacheOptions } from '../contract.ts'
import type { ResourceCache } from '../resource.ts'
import { openWatchCache } from '../watchcache.ts'

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

/** A store with ConfigMaps, and a watch cache over it. */
export interface Fixture {
  readonly store: Store
  readonly cache: WatchCache
  readonly maps: ResourceCache
  /** Writes and waits until the cache has it; undefined deletes. Returns the revision. */
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

/** What `open` does, for the tests of a suite: closes the fixtures after each test. */
export function openForEach(): typeof open {
  const opened: Fixture[] = []
  afterEach(async () => {
    for (const { close } of opened.splice(0)) await close()
  })
  return async (...args) => {
    const fixture = await open(...args)
    opened.push(fixture)
    return fixture
  }
}

export const forever: AbortSignal = new AbortController().signal
setMaxListeners(0, forever)

/** `root/default/a=1`, for every item of a list, and the list's metadata. */
export async function listed(list: ItemList): Promise<{ items: string[]; meta: ListMeta }> {
  const items: string[] = []
  for (;;) {
    const next = await list.next()
    if (next.done === true) return { items, meta: next.value }
    const batch = Array.from(next.value)
    assert.equal(next.value.length, batch.length)
    assert.equal(next.value.bytes?.toString(), batch.map(item => item.bytes.toString()).join(','))
    items.push(...batch.map(shown))
  }
}

const dataOf = (item: Item): string => String((item.object.data as { value: string }).value)

/** The text of an item, checked against its own bytes. */
export function shown(item: Item): string {
  const { cluster, namespace, name } = item.meta
  assert.deepEqual(JSON.parse(item.bytes.toString()).metadata.resourceVersion, item.meta.resourceVersion)
  return `${cluster}/${namespace}/${name}=${dataOf(item)}`
}

/** `ADDED root/default/a=1@3`; `BOOKMARK @7`, with `!` when it ends initial events. */
export function told({ type, item }: ItemEvent): string {
  const version = item.meta.resourceVersion
  if (type !== 'BOOKMARK') return `${type} ${shown(item)}@${version}`
  return `BOOKMARK @${version}${item.meta.annotations['k8s.io/initial-events-end'] === 'true' ? '!' : ''}`
}

/** Reads a watch until `count` events have arrived. */
export async function events(watch: ItemWatch, count: number): Promise<string[]> {
  const found: string[] = []
  while (found.length < count) {
    const next = await watch.next()
    if (next.done === true) break
    found.push(...next.value.map(told))
  }
  return found
}
