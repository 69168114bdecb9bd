import assert from 'node:assert/strict'
import { testContext } from '../../test/support/context.ts'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { ask, jsonOf, widget, widgets } from '../../test/support/widgets.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import { StatusError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { crossClusterRead } from './crossclusterread.ts'

const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' }
const about = { group: 'example.com', resource: 'widgets' }

describe('crossClusterRead', () => {
  const lender = memoryStorage(kind)
  const own = widgets(lender)
  const storage = crossClusterRead(about, () => ({ cluster: 'lender', storage: lender }))
  const lent = widgets(storage, { verbs: ['get', 'list', 'watch'] })
  const clusterOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.['kcp.io/cluster']

  before(async () => {
    for (const cluster of ['lender', 'borrower'])
      await ask(own, { verb: 'create', cluster, body: widget(`of-${cluster}`) })
  })

  it('are shown in whichever logical cluster asks, as its own', async () => {
    for (const cluster of ['borrower', 'another']) {
      const { items } = (await jsonOf(ask(lent, { verb: 'list', cluster }))) as {
        items: readonly KubeObject[]
      }
      assert.deepEqual(
        items.map(item => [item.metadata.name, clusterOf(item)]),
        [['of-lender', cluster]],
      )
      const one = await jsonOf(ask(lent, { verb: 'get', name: 'of-lender', cluster }))
      assert.equal(clusterOf(one as unknown as KubeObject), cluster)
    }
  })

  it('do not contain objects of the reading cluster itself', async () => {
    const missing = ask(lent, { verb: 'get', name: 'of-borrower', cluster: 'borrower' })
    await assert.rejects(missing, (error: StatusError) => error.code === 404)
  })

  it('are watched where they are', async () => {
    const query = { cluster: 'borrower', initialEvents: true, bookmarks: false }
    const events = storage.watch(testContext({ cluster: 'borrower' }), query)
    const { value = [] } = await events.next()
    await events.return()
    assert.deepEqual(
      value.map(({ type, item }) => [type, item.object.metadata.name, clusterOf(item.object)]),
      [['ADDED', 'of-lender', 'borrower']],
    )
  })

  it('end when clusters read from each other', async () => {
    const circle: ResourceStorage = crossClusterRead(about, () => ({ cluster: 'lender', storage: circle }))
    const key = { cluster: 'borrower', namespace: 'ns1', name: 'x' }
    await assert.rejects(async () => circle.get(testContext(), key), {
      code: 500,
      message: /request for widgets.example.com has been forwarded 4 times without being served/,
    })
  })

  it('are not found without a cluster, and are read-only', async () => {
    const ctx = testContext({ cluster: '*' })
    assert.throws(
      () => storage.list(ctx, { cluster: '*' }),
      (error: StatusError) => error.code === 400,
    )
    const key = { cluster: 'borrower', namespace: 'ns1', name: 'x' }
    const write = { dryRun: false, fieldManager: 'test' }
    const is405 = (error: unknown) => error instanceof StatusError && error.code === 405
    await assert.rejects(storage.create(testContext(), key, widget('x'), write), is405)
    await assert.rejects(
      storage.update(testContext(), key, item => item.object, write),
      is405,
    )
    await assert.rejects(
      storage.delete(testContext(), key, () => undefined, { dryRun: false }),
      is405,
    )
  })
})
