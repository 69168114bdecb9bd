import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { keyOf, objectOf, open } from './testing/fixture.ts'

describe('the object of an item', () => {
  it('is not kept for a reader of many, unless it is known', async () => {
    const fixture = await open()
    await fixture.write('a/n/x', '1')
    // An item that was written has its object; one that was loaded has none.
    fixture.cache.close()
    const { maps, close } = await open({}, fixture.store)
    const item = maps.get(keyOf('a/n/x'))
    assert.ok(item !== undefined)
    const first = item.objectOnce
    assert.deepEqual(first.data, objectOf('a/n/x', '1').data)
    assert.notEqual(item.objectOnce, first)
    const kept = item.object
    assert.equal(item.objectOnce, kept)
    await close()
  })

  it('is not kept after a job has decoded much, but is in the next one', async () => {
    const fixture = await open()
    const ids = Array.from({ length: 10 }, (_, i) => `a/n/x${i}`)
    for (const id of ids) await fixture.write(id, 'x'.repeat(2 * 1024 * 1024))
    fixture.cache.close()
    const { maps, close } = await open({}, fixture.store)
    await nextTurn()
    const items = ids.map(id => maps.get(keyOf(id)))
    const decoded = () => items.map(item => item?.object)
    const first = decoded()
    const again = decoded()
    assert.deepEqual(
      again.map((object, i) => object === first[i]),
      [...Array(7).fill(true), ...Array(3).fill(false)],
    )
    await nextTurn()
    assert.equal(decoded().at(-1), items.at(-1)?.object)
    await close()
  })
})
