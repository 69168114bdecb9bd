import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ItemEvent } from '../contract/item.ts'
import { silent } from '../contract/log.ts'
import { loopbackContext } from '../contract/loopback.ts'
import type { ListQuery, WatchQuery } from '../contract/storage.ts'
import { fieldEquals, labelEquals } from '../selectors/selectors.ts'
import { storageOf } from './mapstorage.ts'
import { ObjectMap, type OwnObject } from './objectmap.ts'

const kind = {
  group: 'example.com',
  version: 'v1',
  resource: 'counts',
  kind: 'Count',
  selectableFields: { count: ({ count }: { readonly [field: string]: unknown }) => String(count) },
}
const count = (name: string, value = 0, labels = {}): OwnObject => ({
  metadata: { name, labels },
  count: value,
})

describe('a map of objects', () => {
  let map: ObjectMap
  let stop: AbortController
  beforeEach(() => {
    map = new ObjectMap(kind)
    stop = new AbortController()
  })
  afterEach(() => stop.abort())

  const ctx = () =>
    loopbackContext({ verb: 'list', resource: kind, cluster: '*', signal: stop.signal, log: silent })
  async function list(query: Partial<ListQuery> = {}) {
    const listing = storageOf(map).list(ctx(), { cluster: '*', ...query })
    const found: string[] = []
    for (;;) {
      const next = await listing.next()
      if (next.done) return { found, meta: next.value }
      found.push(...Array.from(next.value, ({ key }) => `${key.cluster}/${key.name}`))
    }
  }
  const watch = (query: Partial<WatchQuery> = {}) =>
    storageOf(map).watch(ctx(), { cluster: '*', initialEvents: false, bookmarks: false, ...query })
  const told = ({ type, item }: ItemEvent): string => `${type} ${item.key.name}=${item.object.count}`
  async function events(
    watching: AsyncGenerator<readonly ItemEvent[]>,
    most: number,
  ): Promise<readonly string[]> {
    const seen: ItemEvent[] = []
    while (seen.length < most) seen.push(...((await watching.next()).value ?? []))
    return seen.map(told)
  }

  it('has objects with the fields that the server sets', async () => {
    map.set('one', count('a', 3))
    const { metadata, ...content } = (
      await storageOf(map).get(ctx(), { cluster: 'one', namespace: '', name: 'a' })
    ).object
    assert.deepEqual(content, { apiVersion: 'example.com/v1', kind: 'Count', count: 3 })
    assert.deepEqual(metadata.annotations, { 'kcp.io/cluster': 'one' })
    assert.match(metadata.uid ?? '', /^[0-9a-f-]{36}$/)
    assert.match(metadata.creationTimestamp ?? '', /^\d{4}-.*Z$/)
    assert.match(metadata.resourceVersion ?? '', /^\d+$/)
  })

  it('keeps the identity of a changed object, and gives a new one after a deletion', () => {
    map.set('one', count('a'))
    const { uid } = map.get('one', 'a')?.metadata ?? {}
    map.set('one', count('a', 1))
    assert.equal(map.get('one', 'a')?.metadata.uid, uid)
    assert.equal(map.delete('one', 'a'), true)
    assert.equal(map.delete('one', 'a'), false)
    map.set('one', count('a'))
    assert.notEqual(map.get('one', 'a')?.metadata.uid, uid)
  })

  it('is not changed by changes of the objects that were given or returned', () => {
    const data = { deep: { word: 'a' } }
    map.set('one', { metadata: { name: 'a' }, data })
    data.deep.word = 'b'
    const found = map.get('one', 'a') as unknown as { data: typeof data }
    found.data.deep.word = 'c'
    assert.deepEqual(map.get('one', 'a')?.data, { deep: { word: 'a' } })
  })

  it('refuses objects that cannot be served', () => {
    const bad =
      (object: unknown, cluster = 'one') =>
      () =>
        map.set(cluster, object as OwnObject)
    assert.throws(bad({}), /an object of the kind Count has no metadata\.name/)
    assert.throws(bad(count('a'), '*'), /Count a needs the name of a logical cluster/)
    assert.throws(
      bad({ metadata: { name: 'a', namespace: 'n' } }),
      /Count a must not have metadata\.namespace/,
    )
    assert.throws(bad({ metadata: { name: 'a' }, when: new Date() }), /when is a Date/)
  })

  it('lists by logical cluster, selectors and pages of one state', async () => {
    for (const name of ['a', 'b', 'c'])
      map.set('one', count(name, 1, { color: name === 'b' ? 'red' : 'blue' }))
    map.set('two', count('a', 2))
    assert.deepEqual((await list()).found, ['one/a', 'one/b', 'one/c', 'two/a'])
    assert.deepEqual((await list({ cluster: 'two' })).found, ['two/a'])
    assert.deepEqual((await list({ labels: labelEquals('color', 'red') })).found, ['one/b'])
    assert.deepEqual((await list({ fields: fieldEquals('count', '2') })).found, ['two/a'])
    const first = await list({ limit: 2 })
    assert.deepEqual([first.found, first.meta.remainingItemCount], [['one/a', 'one/b'], 2])
    map.delete('one', 'c')
    const rest = await list({ limit: 2, continue: first.meta.continue ?? '' })
    assert.deepEqual(rest.found, ['one/c', 'two/a'])
    assert.equal(rest.meta.resourceVersion, first.meta.resourceVersion)
    await assert.rejects(list({ continue: 'x' }), { code: 400 })
    await assert.rejects(list({ fields: fieldEquals('spec.x', '') }), { code: 400 })
  })

  it('shows nothing of other logical clusters with a continue token that a client has made', async () => {
    for (const cluster of ['one', 'two']) for (const name of ['a', 'b']) map.set(cluster, count(name))
    const { meta } = await list({ cluster: 'two', limit: 1 })
    const token = JSON.parse(Buffer.from(meta.continue ?? '', 'base64url').toString()) as object
    const made = Buffer.from(JSON.stringify({ ...token, after: '' })).toString('base64url')
    assert.deepEqual((await list({ cluster: 'two', continue: made })).found, ['two/a', 'two/b'])
  })

  it('is read-only', async () => {
    map.set('one', count('a'))
    const key = { cluster: 'one', namespace: '', name: 'a' }
    await assert.rejects(
      storageOf(map).delete(ctx(), key, () => undefined, { dryRun: false }),
      { code: 405 },
    )
  })

  it('watches from a list on: no event is lost or repeated, and equal objects are none', async () => {
    map.set('one', count('a'))
    const { meta } = await list()
    map.set('one', count('b'))
    const watching = watch({ resourceVersion: meta.resourceVersion })
    const seen = events(watching, 4)
    map.set('one', count('a'))
    map.set('one', count('a', 1))
    map.delete('one', 'b')
    map.set('two', count('c'))
    assert.deepEqual(await seen, ['ADDED b=0', 'MODIFIED a=1', 'DELETED b=0', 'ADDED c=0'])
  })

  it('watches with selectors: objects enter and leave', async () => {
    const watching = watch({ labels: labelEquals('color', 'red') })
    const seen = events(watching, 2)
    await Promise.resolve()
    map.set('one', count('a', 1, { color: 'red' }))
    map.set('one', count('a', 2, { color: 'blue' }))
    assert.deepEqual(await seen, ['ADDED a=1', 'DELETED a=1'])
  })

  it('sends the initial state and its end', async () => {
    map.set('one', count('a'))
    const watching = watch({ initialEvents: true, bookmarks: true })
    assert.deepEqual(await events(watching, 2), ['ADDED a=0', 'BOOKMARK =undefined'])
  })

  it('refuses resourceVersions of another process with 410', async () => {
    const { meta } = await list()
    const other = String(Number(meta.resourceVersion) - 1)
    await assert.rejects(watch({ resourceVersion: other }).next(), { code: 410 })
    await assert.rejects(watch({ resourceVersion: String(Number(meta.resourceVersion) + 1) }).next(), {
      code: 410,
    })
  })

  it('replaces the objects of one logical cluster by their differences', async () => {
    map.replace('one', [count('a'), count('b')])
    map.set('two', count('z'))
    const seen = events(watch({ resourceVersion: (await list()).meta.resourceVersion }), 3)
    map.replace('one', [count('a'), count('b', 1), count('c')].slice(1))
    assert.deepEqual(await seen, ['DELETED a=0', 'MODIFIED b=1', 'ADDED c=0'])
    assert.deepEqual((await list()).found, ['one/b', 'one/c', 'two/z'])
  })

  it('lists what the events of a watch add up to, for any changes', async () => {
    const change = fc.record({
      cluster: fc.constantFrom('one', 'two'),
      name: fc.constantFrom('a', 'b', 'c'),
      value: fc.option(fc.nat(2), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), fc.nat(30), async (changes, at) => {
        map = new ObjectMap(kind)
        const apply = ({ cluster, name, value }: (typeof changes)[number]): void => {
          if (value === undefined) map.delete(cluster, name)
          else map.set(cluster, count(name, value))
        }
        changes.slice(0, at).forEach(apply)
        const { found, meta } = await list()
        changes.slice(at).forEach(apply)
        map.set('zzz', count('last'))
        const state = new Set(found)
        for await (const batch of watch({ resourceVersion: meta.resourceVersion })) {
          for (const { type, item } of batch) {
            const id = `${item.key.cluster}/${item.key.name}`
            if (type === 'DELETED') assert.ok(state.delete(id), `${id} was not there`)
            else assert.equal(state.has(id), type === 'MODIFIED', `${type} ${id}`)
            if (type === 'ADDED') state.add(id)
          }
          if (state.has('zzz/last')) break
        }
        assert.deepEqual([...state].sort(), (await list()).found)
      }),
      { numRuns: 100 },
    )
  })
})
