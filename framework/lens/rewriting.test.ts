import assert from 'node:assert/strict'
import { testContext } from '../../test/support/context.ts'
import { ask, jsonOf, widget } from '../../test/support/widgets.ts'
import { PickedBatch } from '../contract/batch.ts'
import { type ItemEvent, itemFrom, itemOf } from '../contract/item.ts'
import type { ItemBatch, ResourceStorage } from '../contract/storage.ts'
import { forbidden } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { encodeObject } from '../wire/encode.ts'
import { annotator } from './annotate.ts'
import type { Lens } from './lens.ts'
import { code, merge, namesIn, scene, visible } from './testing/scene.ts'
import { viewOf } from './view.ts'

describe('a rewriting lens', () => {
  const stamp: Lens = {
    relabel: meta => ({ ...meta, annotations: { ...meta.annotations, seen: 'yes' } }),
    present: object => ({ ...object, extra: object.metadata.annotations?.seen }),
  }

  it('is read-only without accept', async () => {
    const { seen } = await scene(stamp)
    for (const [verb, extra] of [
      ['create', { name: '', body: widget('c') }],
      ['update', { body: visible('a') }],
      ['patch', { body: {}, headers: merge }],
      ['delete', {}],
      ['deletecollection', { name: '' }],
    ] as const) {
      assert.equal(await code(ask(seen, { verb, name: 'a', ...extra })), 405, verb)
    }
  })

  it('rewrites objects of get, list and watch', async () => {
    const { seen } = await scene(stamp)
    const check = (object: Readonly<Record<string, unknown>>): void => {
      assert.equal((object.metadata as KubeObject['metadata']).annotations?.seen, 'yes')
      assert.equal(object.extra, 'yes')
    }
    check(await jsonOf(ask(seen, { verb: 'get', name: 'a' })))
    const { items } = (await jsonOf(ask(seen, { verb: 'list' }))) as { items: KubeObject[] }
    assert.equal(items.length, 2)
    for (const item of items) check(item)
    const ending = new AbortController()
    const { body } = await ask(seen, { verb: 'watch', signal: ending.signal })
    assert.ok(!Buffer.isBuffer(body))
    const { value } = await body[Symbol.asyncIterator]().next()
    const [line] = String(value).split('\n')
    check(JSON.parse(line ?? '').object)
    ending.abort()
  })

  it('calls accept with the object of the client, and stores its result', async () => {
    const accepted: unknown[] = []
    const { all, seen } = await scene({
      ...stamp,
      accept: (object, current) => {
        accepted.push([object.extra, current?.extra])
        const { extra: _, ...rest } = object
        return rest as KubeObject
      },
    })
    const told = await jsonOf(
      ask(seen, { verb: 'patch', name: 'a', headers: merge, body: { spec: { size: 1 } } }),
    )
    assert.equal(told.extra, 'yes')
    assert.deepEqual(accepted, [[undefined, 'yes']], 'the schema prunes what it does not know')
    const stored = await jsonOf(ask(all, { verb: 'get', name: 'a' }))
    assert.deepEqual(stored.spec, { color: 'red', size: 1 })
    await ask(seen, { verb: 'delete', name: 'a' })
    assert.deepEqual(await namesIn(all), ['b'])
  })

  it('can refuse', async () => {
    const { seen } = await scene({
      accept: () => {
        throw forbidden(undefined, 'no')
      },
    })
    assert.equal(await code(ask(seen, { verb: 'create', body: widget('c') })), 403)
    assert.equal(await code(ask(seen, { verb: 'patch', name: 'a', headers: merge, body: {} })), 403)
  })
})

describe('objects that a lens does not change', () => {
  const items = ['a', 'b'].map(name => itemOf(widget(name), 'one'))
  const batch: ItemBatch = Object.assign([...items], { bytes: Buffer.from('{}') })
  const events: readonly ItemEvent[] = items.map(item => ({ type: 'ADDED', item }))
  const storage = {
    async *list() {
      yield batch
      return { resourceVersion: '1' }
    },
    async *watch() {
      yield events
    },
  } as unknown as ResourceStorage
  const ctx = testContext()
  const query = { cluster: 'one', initialEvents: false, bookmarks: false }

  const lenses: readonly Lens[] = [
    {},
    { narrow: query => query },
    { matches: () => true },
    { relabel: meta => meta, present: object => object },
  ]
  for (const lens of lenses) {
    it(`passes by identity: ${Object.keys(lens).join(', ') || 'nothing'}`, async () => {
      const view = viewOf(storage, () => lens)
      assert.equal((await view.list(ctx, query).next()).value, batch)
      assert.equal((await view.watch(ctx, query).next()).value, events)
    })
  }

  it('is handed over without another generator when it only narrows', async () => {
    const list = storage.list(ctx, query)
    const view = viewOf({ ...storage, list: () => list }, () => ({ narrow: query => query }))
    assert.equal(view.list(ctx, query), list)
  })
})

describe('a lens that hides and annotates', () => {
  const encoded = ['a', 'b', 'c'].map(name =>
    itemFrom(encodeObject(widget(name)), { cluster: 'one', namespace: '', name }),
  )
  const storage = {
    async *list() {
      yield new PickedBatch(encoded)
      return { resourceVersion: '1', remainingItemCount: 3 }
    },
  } as unknown as ResourceStorage

  it('shows the same in bytes and one by one', async () => {
    const lens: Lens = { matches: ({ name }) => name !== 'b', annotate: annotator({ 'a.dev/b': 'c' }) }
    const list = viewOf(storage, () => lens).list(testContext(), { cluster: 'one' })
    const batch = (await list.next()).value as ItemBatch
    const wanted = ['a', 'c'].map(name =>
      encodeObject(widget(name, undefined, { annotations: { 'a.dev/b': 'c' } })).bytes.toString(),
    )
    assert.equal(String(batch.bytes), wanted.join(','))
    assert.deepEqual(
      Array.from(batch, item => item.bytes.toString()),
      wanted,
    )
    assert.deepEqual((await list.next()).value, { resourceVersion: '1' })
  })
})
