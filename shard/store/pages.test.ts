import assert from 'node:assert/strict'
import { pagesOf } from './pages.ts'

const value = (bytes: number) => ({ value: Buffer.alloc(bytes) })

/** Reads so many values of so many bytes; returns how many each page was asked for. */
async function askedFor(count: number, bytes: number, limit?: number): Promise<readonly number[]> {
  const asked: number[] = []
  const read = async (from: number, most: number) => {
    asked.push(most)
    const next = Math.min(from + most, count)
    return {
      values: Array.from({ length: next - from }, () => value(bytes)),
      next: next < count ? next : undefined,
    }
  }
  for await (const _ of pagesOf(0, { limit }, read));
  return asked
}

describe('pages of a range', () => {
  it('have more small values, because each page takes etcd the time to count all that follow', async () => {
    assert.deepEqual(await askedFor(6_000, 100), [500, 2_500, 2_500, 2_500])
  })

  it('have few large values', async () => {
    assert.deepEqual(await askedFor(520, 1_048_576), [500, 8, 8, 8])
  })

  it('have no more values than are wanted', async () => {
    assert.deepEqual(await askedFor(6_000, 100, 1_000), [500, 500])
    assert.deepEqual(await askedFor(6_000, 100, 2), [2])
  })

  it('are read while the values of the one before are used', async () => {
    const read: number[] = []
    const pages = pagesOf(0, {}, async from => {
      read.push(from)
      return { values: [value(1)], next: from < 2 ? from + 1 : undefined }
    })
    await pages.next()
    assert.deepEqual(read, [0, 1])
  })

  it('end with the failure of a page that is not used any more unnoticed', async () => {
    const pages = pagesOf(0, {}, async from => {
      if (from > 0) throw new Error('gone')
      return { values: [value(1)], next: 1 }
    })
    for await (const _ of pages) break
    const again = pagesOf(1, {}, async () => Promise.reject(new Error('gone')))
    await assert.rejects(again.next(), /gone/)
  })
})
