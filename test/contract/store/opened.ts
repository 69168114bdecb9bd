import type { Store, StoredValue, StoreEvent } from '../../../shard/store/store.ts'

/** Opens an empty store. */
export type OpenStore = () => Promise<Pick<Opened, 'store' | 'close'>>

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

const short = ({ revision, key, value, previous }: StoreEvent, base: number): string =>
  `${revision - base} ${key} ${text(previous) ?? '-'}>${text(value) ?? '-'}`

/** Reads a watch until `count` events have arrived; revisions count from the opening of the store. */
export async function events(
  { store, base }: Opened,
  prefix: string,
  after: number,
  count: number,
): Promise<readonly string[]> {
  const stop = new AbortController()
  const found: string[] = []
  for await (const batch of store.watch(prefix, base + after, stop.signal)) {
    found.push(...batch.map(event => short(event, base)))
    if (found.length >= count) break
  }
  stop.abort()
  return found
}

export interface Opened {
  readonly store: Store
  /** The revision of the empty store. */
  readonly base: number
  /** Also removes the files of the store. */
  close(): Promise<void>
}

/** Commits; revisions, expected ones too, count from the opening of the store. */
export async function commit(
  { store, base }: Opened,
  ...changes: Parameters<Store['commit']>[0]
): Promise<number> {
  const revision = await store.commit(
    changes.map(change => ({ ...change, ...(change.expected && { expected: change.expected + base }) })),
  )
  return revision - base
}
