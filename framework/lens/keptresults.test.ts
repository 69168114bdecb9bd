import assert from 'node:assert/strict'
import { itemOf } from '../contract/item.ts'
import { KeptResults } from './keptresults.ts'
import { privateItem } from './privatestorage.ts'

describe('kept results', () => {
  const owner = {}

  it('are those of one owner and one item', () => {
    const kept = new KeptResults<{ readonly size: number }>(100)
    const [item, result] = [{}, { size: 1 }]
    kept.set(owner, item, result)
    assert.equal(kept.get(owner, item), result)
    assert.equal(kept.get({}, item), undefined)
    assert.equal(kept.get(owner, {}), undefined)
  })

  it('of a private item are those of its original, which each read makes private again', () => {
    const kept = new KeptResults<{ readonly size: number }>(100)
    const item = itemOf({ apiVersion: 'v1', kind: 'K', metadata: { name: 'a' } }, 'one')
    const result = { size: 1 }
    kept.set(owner, privateItem(item), result)
    assert.equal(kept.get(owner, privateItem(item)), result)
    assert.equal(kept.get(owner, item), result)
  })

  it('are dropped when they are too large together, except for those that are used', () => {
    const kept = new KeptResults<{ readonly size: number }>(100)
    const [used, idle] = [{}, {}]
    kept.set(owner, used, { size: 10 })
    kept.set(owner, idle, { size: 10 })
    for (let i = 0; i < 10; i++) {
      kept.set(owner, {}, { size: 60 })
      assert.ok(kept.get(owner, used), `after ${i} others`)
    }
    assert.equal(kept.get(owner, idle), undefined)
  })
})
