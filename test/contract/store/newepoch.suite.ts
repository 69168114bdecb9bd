import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { Compacted, type Store } from '../../../shard/store/store.ts'

const value = Buffer.from('1')

/** A store that begins anew refuses watches of the store before it. `again` opens it when the first one is closed. */
export function beginsNewEpoch(name: string, open: () => Promise<Store>, again: () => Promise<Store>): void {
  it(name, async () => {
    const before = await open()
    const seen = await before.commit([{ key: 'a', value }])
    await before.close()
    const closed = Date.now()
    while (Date.now() === closed) await setImmediate()
    const after = await again()
    for (const key of ['b', 'c']) await after.commit([{ key, value }])
    const events = after.watch('', seen, AbortSignal.timeout(10_000))
    await assert.rejects(async () => {
      for await (const _ of events) return
    }, Compacted)
    await after.close()
  })
}
