import assert from 'node:assert/strict'
import type { Item } from '../../../framework/contract/item.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { configMap, noCheck, refused, revisionOf, type Tests, write } from './bench.ts'

export const writing: Tests = {
  'create stamps metadata': async bench => {
    const { object } = await bench.create('a')
    const { uid, creationTimestamp, resourceVersion } = object.metadata
    assert.match(uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.match(creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.match(resourceVersion ?? '', /^[1-9]\d*$/)
  },
  'the same name twice is 409': async bench => {
    await bench.create('a')
    const error = await refused(409, bench.create('a'))
    assert.equal(error.reason, 'AlreadyExists')
    assert.equal(error.message, 'configmaps "a" already exists')
  },
  'create refuses a version and the absence of a name': async bench => {
    const error = await bench.create('a', {}, { resourceVersion: '5' }).then(
      () => assert.fail(),
      (error: unknown) => error,
    )
    assert.ok(error instanceof StatusError)
    assert.match(error.message, /resourceVersion should not be set on objects to be created/)
    const nameless = { ...configMap('x'), metadata: { namespace: 'default' } }
    await refused(422, bench.subject.storage.create(bench.ctx(), bench.key(''), nameless, write))
  },
  'generateName makes a name': async bench => {
    const object = { ...configMap('x'), metadata: { namespace: 'default', generateName: 'w-' } }
    const item = await bench.subject.storage.create(bench.ctx(), bench.key(''), object, write)
    assert.match(item.key.name, /^w-.{5}$/)
    assert.deepEqual(await bench.names(), [item.key.name])
  },
  'versions grow with every change': async bench => {
    const a = await bench.create('a')
    const b = await bench.create('b', {}, {}, bench.two)
    const changed = await bench.setData('a', { x: '1' })
    assert.ok(revisionOf(a) < revisionOf(b) && revisionOf(b) < revisionOf(changed))
    assert.equal(changed.object.metadata.uid, a.object.metadata.uid)
  },
  'nothing changed is nothing written': async bench => {
    const item = await bench.create('a', { x: '1' })
    const same = await bench.setData('a', { x: '1' })
    assert.equal(same.meta.resourceVersion, item.meta.resourceVersion)
  },
  'a stale version is 409, none is last write wins': async bench => {
    const { resourceVersion } = (await bench.create('a')).meta
    await bench.setData('a', { x: '1' })
    const error = await refused(409, bench.setMeta('a', { resourceVersion }))
    assert.equal(
      error.message,
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    )
    const item = await bench.update('a', () => configMap('a', { x: '2' }))
    assert.deepEqual(item.object.data, { x: '2' })
  },
  'another uid is 409': async bench => {
    await bench.create('a')
    const error = await refused(409, bench.setMeta('a', { uid: 'other' }))
    assert.match(error.message, /Precondition failed: UID in precondition: other, UID in object meta: /)
  },
  'racing changes are all applied': async bench => {
    await bench.create('a')
    const add = (key: string): Promise<Item> =>
      bench.update('a', ({ metadata, ...object }) => {
        const { resourceVersion: _, ...rest } = metadata
        return {
          ...object,
          metadata: rest,
          data: { ...(object.data as object), [key]: '1' },
        } as KubeObject
      })
    await Promise.all(Array.from({ length: 20 }, (_, i) => add(`k${i}`)))
    const { object } = await bench.subject.storage.get(bench.ctx(), bench.key('a'))
    assert.equal(Object.keys(object.data as object).length, 20)
  },
  'a change that refuses leaves everything as it was': async bench => {
    const item = await bench.create('a')
    const change = (): never => {
      throw new StatusError(403, 'Forbidden', 'no')
    }
    await refused(403, bench.subject.storage.update(bench.ctx(), bench.key('a'), change, write))
    assert.equal((await bench.list()).items[0]?.meta.resourceVersion, item.meta.resourceVersion)
  },
  'dry runs change nothing': async bench => {
    const { storage } = bench.subject
    const dry = { ...write, dryRun: true }
    const created = await storage.create(bench.ctx(), bench.key('a'), configMap('a'), dry)
    assert.ok(created.object.metadata.uid)
    assert.equal(created.object.metadata.resourceVersion, undefined)
    assert.deepEqual(await bench.names(), [])
    const real = await bench.create('a')
    await refused(409, storage.create(bench.ctx(), bench.key('a'), configMap('a'), dry))
    const change = ({ object }: Item): KubeObject => ({ ...object, data: { x: '1' } })
    const changed = await storage.update(bench.ctx(), bench.key('a'), change, dry)
    assert.deepEqual(changed.object.data, { x: '1' })
    assert.equal(changed.meta.resourceVersion, real.meta.resourceVersion)
    await storage.delete(bench.ctx(), bench.key('a'), noCheck, { dryRun: true })
    const [item] = (await bench.list()).items
    assert.equal(item?.meta.resourceVersion, real.meta.resourceVersion)
  },
}
