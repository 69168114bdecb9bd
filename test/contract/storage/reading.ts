import assert from 'node:assert/strict'
import { promised } from '../../../framework/async/awaitable.ts'
import { clusterAnnotation } from '../../../framework/contract/item.ts'
import { fieldEquals, labelEquals } from '../../../framework/selectors/selectors.ts'
import { refused, type Tests } from './bench.ts'

export const reading: Tests = {
  'get gives what create gave': async bench => {
    const created = await bench.create('a', { x: 'ü' }, { labels: { l: '1' }, annotations: { n: '2' } })
    const item = await bench.subject.storage.get(bench.ctx(), bench.key('a'))
    assert.equal(item.bytes.toString(), created.bytes.toString())
    assert.deepEqual(item.key, bench.key('a'))
    assert.deepEqual(item.object.data, { x: 'ü' })
    assert.deepEqual(JSON.parse(item.bytes.toString()), item.object)
    const { uid, resourceVersion, labels, annotations } = item.meta
    assert.equal(uid, item.object.metadata.uid)
    assert.equal(resourceVersion, item.object.metadata.resourceVersion)
    assert.deepEqual(labels, { l: '1' })
    assert.deepEqual(annotations, { n: '2', [clusterAnnotation]: bench.one })
  },
  'what is not there is 404': async bench => {
    const { storage } = bench.subject
    const { message } = await refused(
      404,
      promised(() => storage.get(bench.ctx(), bench.key('a'))),
    )
    assert.equal(message, 'configmaps "a" not found')
    await refused(404, bench.setData('a', {}))
    await refused(404, bench.delete('a'))
  },
  'lists are sorted, and empty ones have a version': async bench => {
    const empty = await bench.list()
    assert.deepEqual(empty.items, [])
    assert.match(empty.meta.resourceVersion, /^[1-9]\d*$/)
    for (const name of ['b', 'a', 'c-1', 'c']) await bench.create(name)
    assert.deepEqual(await bench.names(), ['a', 'b', 'c', 'c-1'])
  },
  'clusters are apart, and `*` is all of them': async bench => {
    await bench.create('a', { in: 'one' })
    await bench.create('a', { in: 'two' }, {}, bench.two)
    assert.deepEqual(await bench.names({ cluster: bench.two }), ['a'])
    const { items } = await bench.list({ cluster: '*' })
    assert.deepEqual(items.map(item => item.key.cluster).sort(), [bench.one, bench.two].sort())
  },
  'selectors choose': async bench => {
    await bench.create('a', {}, { labels: { app: 'x' } })
    await bench.create('b', {}, { labels: { app: 'y' } })
    assert.deepEqual(await bench.names({ labels: labelEquals('app', 'y') }), ['b'])
    assert.deepEqual(await bench.names({ fields: fieldEquals('metadata.name', 'a') }), ['a'])
    assert.deepEqual(await bench.names({ namespace: 'other' }), [])
  },
  'pages are one snapshot': async bench => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await bench.create(name)
    const first = await bench.list({ limit: 2 })
    assert.deepEqual(
      first.items.map(item => item.key.name),
      ['a', 'b'],
    )
    assert.equal(first.meta.remainingItemCount, 3)
    await bench.create('bb')
    await bench.delete('d')
    const second = await bench.list({ limit: 2, continue: first.meta.continue ?? '' })
    assert.deepEqual(
      second.items.map(item => item.key.name),
      ['c', 'd'],
    )
    assert.equal(second.meta.resourceVersion, first.meta.resourceVersion)
    const third = await bench.list({ limit: 2, continue: second.meta.continue ?? '' })
    assert.deepEqual(
      third.items.map(item => item.key.name),
      ['e'],
    )
    assert.equal(third.meta.continue ?? '', '')
    assert.equal(third.meta.remainingItemCount, undefined)
  },
  'a limited list with selectors does not count what remains': async bench => {
    for (const name of ['a', 'b']) await bench.create(name, {}, { labels: { app: 'x' } })
    const { meta } = await bench.list({ limit: 1, labels: labelEquals('app', 'x') })
    assert.notEqual(meta.continue ?? '', '')
    assert.equal(meta.remainingItemCount, undefined)
  },
  'an exact version is that state': async bench => {
    const { meta } = await bench.create('a')
    await bench.create('b')
    const exact = { resourceVersion: meta.resourceVersion, match: 'Exact' } as const
    assert.deepEqual(await bench.names(exact), ['a'])
    assert.deepEqual(await bench.names({ resourceVersion: meta.resourceVersion, match: 'NotOlderThan' }), [
      'a',
      'b',
    ])
  },
  'a token of a forgotten state is 410 with a fresh one': async bench => {
    for (const name of ['a', 'b', 'c']) await bench.create(name)
    const { meta } = await bench.list({ limit: 1 })
    await bench.create('d')
    await bench.subject.compact()
    const error = await refused(410, bench.list({ limit: 1, continue: meta.continue ?? '' }))
    const fresh = error.status.metadata.continue
    assert.ok(fresh)
    assert.deepEqual(await bench.names({ continue: fresh }), ['b', 'c', 'd'])
  },
  'a token that is none is 400': async bench => {
    const { message } = await refused(400, bench.list({ limit: 1, continue: 'bogus' }))
    assert.match(message, /^invalid continue token: continue key is not valid: /)
  },
}
