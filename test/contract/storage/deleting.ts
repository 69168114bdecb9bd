import assert from 'node:assert/strict'
import type { Item } from '../../../framework/contract/item.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import { kept, noCheck, refused, type Tests } from './bench.ts'

export const deleting: Tests = {
  'delete removes at a new version': async bench => {
    const created = await bench.create('a')
    const { item, removed } = await bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, kept)
    assert.equal(removed, true)
    assert.equal(item.meta.uid, created.meta.uid)
    assert.deepEqual(await bench.names(), [])
  },
  'a check that refuses keeps the object': async bench => {
    await bench.create('a')
    const check = (item: Item): never => {
      assert.equal(item.key.name, 'a')
      throw new StatusError(403, 'Forbidden', 'no')
    }
    const preconditions = { ...kept, uid: 'other' }
    await refused(403, bench.subject.storage.delete(bench.ctx(), bench.key('a'), check, preconditions))
    assert.deepEqual(await bench.names(), ['a'])
  },
  'preconditions are 409': async bench => {
    const { meta } = await bench.create('a')
    const attempt = (options: object): Promise<unknown> =>
      bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, { ...kept, ...options })
    const error = await refused(409, attempt({ uid: 'other' }))
    assert.equal(error.status.details?.kind, 'ConfigMap')
    assert.equal(
      error.message,
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${meta.uid}). The object might have been deleted and then recreated`,
    )
    await refused(409, attempt({ resourceVersion: '1' }))
    await attempt({ uid: meta.uid, resourceVersion: meta.resourceVersion })
    assert.deepEqual(await bench.names(), [])
  },
  'finalizers hold an object until the last one goes': async bench => {
    await bench.create('a', {}, { finalizers: ['example.com/f'] })
    const watch = bench.watch({ resourceVersion: (await bench.list()).meta.resourceVersion })
    const { item, removed } = await bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, kept)
    assert.equal(removed, false)
    assert.ok(item.object.metadata.deletionTimestamp)
    assert.equal(item.object.metadata.deletionGracePeriodSeconds, 0)
    const again = await bench.subject.storage.delete(bench.ctx(), bench.key('a'), noCheck, kept)
    assert.equal(again.item.meta.resourceVersion, item.meta.resourceVersion)
    await bench.setMeta('a', { finalizers: [] })
    assert.deepEqual(await bench.names(), [])
    assert.deepEqual(await watch.told(2), ['MODIFIED a', 'DELETED a'])
  },
}
