import assert from 'node:assert/strict'
import { testContext } from '../../test/support/context.ts'
import { encodeStored, storageKey } from '../cache/codec.ts'
import { encodeContinuation } from '../cache/continuation.ts'
import { configMaps, type Fixture, open } from '../cache/testing/fixture.ts'
import { followInactive, type Inactive } from './inactive.ts'

describe('a logical cluster that has come from another shard', () => {
  let fixture: Fixture
  let inactive: Inactive
  beforeEach(async () => {
    fixture = await open()
    const ends = { open: () => ({ signal: AbortSignal.abort(), close: () => undefined }) }
    inactive = followInactive(fixture.cache, { ...ends, end: () => undefined, endAll: () => undefined })
    const resource = { group: 'core.kcp.io', resource: 'logicalclusters', segment: 'customresources' }
    const object = {
      apiVersion: 'core.kcp.io/v1alpha1',
      kind: 'LogicalCluster',
      metadata: { name: 'cluster', annotations: { 'internal.oriel.dev/moved': '3,5,1' } },
    }
    const key = storageKey(resource, { cluster: 'one', namespace: '', name: 'cluster' })
    await fixture.cache.at(await fixture.store.commit([{ key, value: encodeStored(object) }]))
  })
  afterEach(() => fixture.close())

  const codeOf = (search: string): number | undefined =>
    inactive.refusal('one', testContext({ info: { verb: 'list' } }), new URLSearchParams(search))?.code

  const tokenAt = (revision: number): string =>
    encodeContinuation({ revision, after: 'one/default/a' }, configMaps, { cluster: 'one' })

  it('expires what continues from a revision of that shard, also by a continue token', async () => {
    assert.equal(fixture.cache.revision, 1)
    for (const revision of [1, 3, 5]) {
      assert.equal(codeOf(`resourceVersion=${revision}`), 410)
      assert.equal(codeOf(`limit=1&continue=${tokenAt(revision)}`), 410, `a token of ${revision}`)
    }
    assert.equal(codeOf('resourceVersion=6'), undefined)
    for (const search of ['', 'limit=1', `continue=${tokenAt(-1)}`, `continue=${tokenAt(6)}`, 'continue=x'])
      assert.equal(codeOf(search), undefined, search)
  })
})
