import { type Store, type StoreChange, type StoredValue, StoreError } from './store.ts'

/** The number of values, and their bytes. */
export interface CopiedValues {
  readonly values: number
  readonly bytes: number
}

/** `[from, to)` of all keys. */
const all = ['/', '0'] as const

// One transaction of etcd.
const mostValues = 60
const mostBytes = 512 * 1024

/**
 * Copies the newest state of a store to an empty one, and compares the two. `copied` and `compared` are called with the number of
 * values so far. Throws `StoreError` for a target with values, for damaged values, when the source was written meanwhile, and when
 * the copy differs.
 */
export async function copyValues(
  source: Store,
  target: Store,
  progress: { copied(values: number): void; compared(values: number): void },
): Promise<CopiedValues> {
  const revision = await source.latest()
  for await (const [value] of target.range(...all, { limit: 1 }))
    throw new StoreError(`the target is not empty: it has the key ${value?.key}`)
  const total = { values: 0, bytes: 0 }
  for await (const batch of batches(source.range(...all, { revision }))) {
    await target.commit(batch)
    total.values += batch.length
    total.bytes += batch.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    progress.copied(total.values)
  }
  await compare(source.range(...all, { revision }), target.range(...all), progress.compared)
  if ((await source.latest()) !== revision)
    throw new StoreError('the source was written during the copy: stop its servers, and copy again')
  return total
}

/** Changes for one commit each. */
async function* batches(
  values: AsyncIterable<readonly StoredValue[]>,
): AsyncGenerator<readonly StoreChange[]> {
  let batch: StoreChange[] = []
  let bytes = 0
  for await (const { key, value, damaged } of flat(values)) {
    if (damaged) throw new StoreError(`the value of ${key} is damaged: restore it before the copy`)
    const isFull = batch.length === mostValues || bytes + value.length > mostBytes
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push({ key, value })
    bytes += value.length
  }
  if (batch.length > 0) yield batch
}

async function* flat(values: AsyncIterable<readonly StoredValue[]>): AsyncGenerator<StoredValue> {
  for await (const part of values) yield* part
}

async function compare(
  source: AsyncIterable<readonly StoredValue[]>,
  target: AsyncIterable<readonly StoredValue[]>,
  compared: (values: number) => void,
): Promise<void> {
  const copies = flat(target)
  let count = 0
  for await (const value of flat(source)) {
    const { value: copy } = await copies.next()
    if (copy?.key !== value.key || copy.damaged || !copy.value.equals(value.value))
      throw new StoreError(`the copy of ${value.key} differs`)
    count++
    if (count % 1_000 === 0) compared(count)
  }
  const { value: more } = await copies.next()
  if (more !== undefined) throw new StoreError(`the copy has the key ${more.key}, the source does not`)
}
