import assert from 'node:assert/strict'
import { initialEventsEnd } from '../../../framework/contract/item.ts'
import { fieldEquals, labelEquals } from '../../../framework/selectors/selectors.ts'
import { refused, revisionOf, type Tests } from './bench.ts'

export const watching: Tests = {
  'a watch from a list tells every change once, in order': async bench => {
    await bench.create('old')
    const { meta } = await bench.list()
    const watch = bench.watch({ resourceVersion: meta.resourceVersion })
    const created = await bench.create('a', { x: '1' })
    await bench.create('elsewhere', {}, {}, bench.two)
    const changed = await bench.setData('a', { x: '2' })
    await bench.delete('a')
    const [added, modified, deleted] = [await watch.next(), await watch.next(), await watch.next()]
    assert.deepEqual([added?.type, modified?.type, deleted?.type], ['ADDED', 'MODIFIED', 'DELETED'])
    assert.equal(added?.item.bytes.toString(), created.bytes.toString())
    assert.equal(added?.previous, undefined)
    assert.equal(modified?.item.bytes.toString(), changed.bytes.toString())
    assert.deepEqual(deleted?.item.object.data, { x: '2' })
    assert.ok(deleted && revisionOf(deleted.item) > revisionOf(changed))
    assert.equal(deleted.item.object.metadata.resourceVersion, deleted.item.meta.resourceVersion)
  },
  'a change knows the state before it': async bench => {
    const created = await bench.create('a', { x: '1' })
    const watch = bench.watch({ resourceVersion: created.meta.resourceVersion })
    await bench.setData('a', { x: '2' })
    assert.equal((await watch.next())?.previous?.bytes.toString(), created.bytes.toString())
  },
  'a watch resumes without a gap or a repeat': async bench => {
    const { meta } = await bench.create('a')
    await bench.create('b')
    await bench.delete('a')
    const watch = bench.watch({ resourceVersion: meta.resourceVersion })
    assert.deepEqual(await watch.told(2), ['ADDED b', 'DELETED a'])
  },
  'initial events come first, and their end is told': async bench => {
    for (const name of ['b', 'a']) await bench.create(name)
    const watch = bench.watch({ initialEvents: true, bookmarks: true })
    assert.deepEqual(await watch.told(2), ['ADDED a', 'ADDED b'])
    const end = await watch.next()
    assert.equal(end?.type, 'BOOKMARK')
    assert.equal(end?.item.object.metadata.annotations?.[initialEventsEnd], 'true')
    assert.deepEqual(Object.keys(end?.item.object ?? {}).sort(), ['apiVersion', 'kind', 'metadata'])
    const created = await bench.create('c')
    assert.ok(end && revisionOf(end.item) < revisionOf(created))
    assert.deepEqual(await watch.told(1), ['ADDED c'])
  },
  'the end of no initial events is told at once': async bench => {
    const watch = bench.watch({ initialEvents: true, bookmarks: true })
    assert.equal((await watch.next())?.type, 'BOOKMARK')
  },
  'without bookmarks there are none': async bench => {
    await bench.create('a')
    const watch = bench.watch({ initialEvents: true })
    assert.deepEqual(await watch.told(1), ['ADDED a'])
    await bench.create('b')
    assert.deepEqual(await watch.told(1), ['ADDED b'])
  },
  'labels that come and go are ADDED and DELETED': async bench => {
    const { meta } = await bench.create('a', { x: '1' })
    const watch = bench.watch({ resourceVersion: meta.resourceVersion, labels: labelEquals('app', 'x') })
    await bench.setMeta('a', { labels: { app: 'x' } })
    await bench.setData('a', { x: '2' })
    const gone = await bench.update('a', object => ({
      ...object,
      metadata: { ...object.metadata, labels: {} },
      data: { x: 'hidden' },
    }))
    await bench.create('b', {}, { labels: { app: 'x' } })
    assert.deepEqual(await watch.told(2), ['ADDED a', 'MODIFIED a'])
    const deleted = await watch.next()
    assert.equal(deleted?.type, 'DELETED')
    assert.deepEqual(deleted?.item.object.data, { x: '2' })
    assert.deepEqual(deleted?.item.object.metadata.labels, { app: 'x' })
    assert.equal(deleted?.item.meta.resourceVersion, gone.meta.resourceVersion)
    assert.equal(deleted?.item.object.metadata.resourceVersion, gone.meta.resourceVersion)
    assert.deepEqual(await watch.told(1), ['ADDED b'])
  },
  'a watch of one name sees only it': async bench => {
    const { meta } = await bench.list()
    const fields = fieldEquals('metadata.name', 'b')
    const watch = bench.watch({ resourceVersion: meta.resourceVersion, fields })
    for (const name of ['a', 'b', 'c']) await bench.create(name)
    await bench.delete('b')
    assert.deepEqual(await watch.told(2), ['ADDED b', 'DELETED b'])
  },
  'a watch of `*` sees all clusters': async bench => {
    const { meta } = await bench.list({ cluster: '*' })
    const watch = bench.watch({ cluster: '*', resourceVersion: meta.resourceVersion })
    await bench.create('a')
    await bench.create('a', {}, {}, bench.two)
    const clusters = [await watch.next(), await watch.next()].map(event => event?.item.key.cluster)
    assert.deepEqual(clusters, [bench.one, bench.two])
  },
  'a forgotten position is 410': async bench => {
    const { meta } = await bench.create('a')
    await bench.create('b')
    await bench.subject.compact()
    await bench.create('c')
    const error = await refused(410, bench.watch({ resourceVersion: meta.resourceVersion }).next())
    assert.equal(error.reason, 'Expired')
    assert.match(error.message, /^too old resource version: \d+ \(\d+\)$/)
  },
  'an aborted watch ends without an error': async bench => {
    const controller = new AbortController()
    const watch = bench.watch(
      { resourceVersion: (await bench.list()).meta.resourceVersion },
      controller.signal,
    )
    const next = watch.next()
    controller.abort()
    assert.equal(await next, undefined)
  },
  'a watch can be left': async bench => {
    const watch = bench.watch({ initialEvents: true, bookmarks: true })
    await watch.next()
    await watch.leave()
    assert.equal(await watch.next(), undefined)
  },
}
