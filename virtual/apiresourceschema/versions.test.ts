import assert from 'node:assert/strict'
import { type Item, itemOf } from '../../framework/index.ts'
import { versionedStates } from './versions.ts'

const schema = (uid: string, resourceVersion: string): Item =>
  itemOf(
    {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIResourceSchema',
      metadata: { name: uid, uid, resourceVersion },
    },
    'provider',
  )

describe('resourceVersions for a consumer', () => {
  let items: readonly Item[] = []
  const follow = () => () => undefined
  const states = versionedStates({ of: () => items, follow, synced: Promise.resolve() }, () => 100)
  const next = (...now: readonly Item[]): number => {
    items = now
    return states.of('c').version
  }

  it('begin where the process began, grow with every change, and stay while nothing changes', () => {
    assert.equal(next(schema('a', '7')), 100)
    assert.equal(next(schema('a', '7')), 100)
    assert.equal(next(schema('a', '7'), schema('b', '150')), 150)
    // A binding has gone: no schema has a new version.
    assert.equal(next(schema('a', '7')), 151)
    assert.equal(next(schema('a', '7'), schema('b', '150')), 152)
    assert.equal(next(schema('a', '160')), 160)
  })

  it('are kept per consumer', () => {
    items = [schema('a', '7')]
    assert.equal(states.of('other').version, 100)
  })

  it('never decrease, also those of forgotten consumers', () => {
    assert.equal(next(schema('a', '200')), 200)
    items = [schema('a', '7')]
    for (let i = 0; i < 1_000; i++) states.of(`c${i}`)
    assert.equal(states.of('c').version, 200)
  })
})
