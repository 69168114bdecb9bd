import type { Store, StoredValue, StoreEvent } from '../../../shard/store/store.ts'

/** Opens an empty store. */
export type OpenStore = () => Promise<Opened>

export const text = (value: StoredValue | undefined): string | undefined => value?.value.toString()

export const put = (key: string, value: string, expected?: number) => ({
  key,
  value: Buffer.from(value),
  ...(expected === undefined ? {} : { expected }),
})

export const del = (key: string, expected?: number) => ({
  key,
  value: undefined,
  ...(expected === undefined ? {} : { expected }),
})

export async function pairs(values: AsyncIterable<readonly StoredValue[]>): Promise<readonly string[]> {
  const found: string[] = []
  for await (const batch of values) for (const value of batch) found.push(`${value.key}=${text(value)}`)
  return found
}

const short = ({ revision, key, value, previous }: StoreEvent): string =>
  `${revision} ${key} ${text(previous) ?? '-'}>${text(value) ?? '-'}`

/** Reads a watch until `count` events have arrived. */
export async function events(
  store: Store,
  prefix: string,
  after: number,
  count: number,
): Promise<readonly string[]> {
  const stop = new AbortController()
  const found: string[] = []
  for await (const batch of store.watch(prefix, after, stop.signal)) {
    found.push(...batch.map(short))
    if (found.length >= count) break
  }
  stop.abort()
  return found
}

/** `close` also removes the files of the store. */
export interface Opened {
  readonly store: Store
  close(): Promise<void>
}

export const commit = (scene: Opened, ...changes: Parameters<Store['commit']>[0]) =>
  scene.store.commit(changes)
