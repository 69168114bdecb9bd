import assert from 'node:assert/strict'
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
})
