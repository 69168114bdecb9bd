import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { configMap, type Fixture, forever, keyOf, listed, open } from './testing/fixture.ts'

const mebibyte = 1024 * 1024
const large = (): string => randomBytes(400 * 1024).toString('hex')
const all = { cluster: 'a', initialEvents: false, bookmarks: false }

/** Bytes of the memory that the events of the ring keep, with what their items share it with. */
function retained({ maps }: Fixture): number {
  const memory = new Set<ArrayBufferLike>()
  for (const { item, previous } of maps.ring.backTo(0))
    for (const each of [item, previous]) if (each !== undefined) memory.add(each.bytes.buffer)
  return Array.from(memory).reduce((sum, { byteLength }) => sum + byteLength, 0)
}

describe('the history of a tenant who rewrites large objects', () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  let fixture: Fixture
  afterEach(() => fixture.close())

  it('is bounded for all resources together, and older watches are expired', async () => {
    fixture = await open({ mostHistory: 8 * mebibyte })
    const before = await fixture.write('a/n/small', '1')
    for (let i = 0; i < 20; i++) await fixture.write('a/n/large', large())
    assert.ok(fixture.cache.historyBytes <= 8 * mebibyte, `${fixture.cache.historyBytes} bytes`)
    const old = fixture.maps.watch(configMap, forever, { ...all, resourceVersion: String(before) })
    await assert.rejects(old.next(), /too old resource version/)
  })

  it('does not keep the neighbors of small objects that change, also not those of pages of lists', async () => {
    fixture = await open()
    const names = Array.from({ length: 17 }, (_, i) => `a/n/x${i}`)
    await fixture.write('a/n/large', large())
    for (const name of names) await fixture.write(name, '0')
    const { ring } = fixture.maps
    ring.shrink(0)
    for (let round = 1; round <= 4; round++) {
      const { meta } = await listed(fixture.maps.list(configMap, forever, { cluster: 'a', limit: 1 }))
      for (const name of names) await fixture.write(name, `${round}`)
      const next = { cluster: 'a', limit: 20, continue: meta.continue ?? '' }
      await listed(fixture.maps.list(configMap, forever, next))
    }
    assert.ok(ring.bytes < mebibyte, `${ring.bytes} bytes of events`)
    const bytes = retained(fixture)
    assert.ok(bytes < 2.5 * mebibyte, `${bytes} bytes of memory`)
  })

  it('is read in batches of limited bytes: a slow reader keeps one such batch', async () => {
    fixture = await open()
    const before = await fixture.write('a/n/small', '1')
    for (let i = 0; i < 8; i++) await fixture.write('a/n/large', large())
    const watch = fixture.maps.watch(configMap, forever, { ...all, resourceVersion: String(before) })
    const { value } = await watch.next()
    const count = value?.length ?? 0
    assert.ok(count >= 1 && count <= 2, `${count} events`)
    await watch.return()
  })

  it('does not keep long label sets after their objects', async () => {
    fixture = await open({ ring: { events: 1 } })
    const long = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`label-${i}`, 'value'.repeat(10)]))
    await fixture.write('a/n/x', '1', long)
    const labels = new WeakRef(fixture.maps.get(keyOf('a/n/x'))?.labels ?? {})
    assert.equal(Object.keys(labels.deref() ?? {}).length, 100)
    await fixture.write('a/n/x', undefined)
    for (const value of ['1', '2']) await fixture.write('a/n/y', value, { app: 'y' })
    await turn()
    collectGarbage()
    assert.equal(labels.deref(), undefined)
  })
})
