import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { WatchHistory } from '../../testing/user.ts'
import { configMap, crd, readThings, thing, where } from '../../virtual/query/testing/scene.ts'
import { listParts } from './list.ts'
import { TwoShards } from './testing/twoshards.ts'
import { watchParts } from './watch.ts'

const configMaps = '/api/v1/configmaps'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const endOf = ({ metadata }: KubeObject): unknown => metadata.annotations?.['k8s.io/initial-events-end']

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[] | null
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

describe('a watch of a query of two shards', () => {
  let shards: TwoShards
  let ending: AbortController
  beforeEach(async () => {
    shards = await TwoShards.start()
    ending = new AbortController()
  })
  afterEach(async () => {
    ending.abort()
    await shards.close()
  })

  const watched = async (search: string, at = configMaps, accept?: string): Promise<WatchHistory> => {
    const query = new URLSearchParams(search)
    query.set('watch', 'true')
    const { signal } = ending
    const parts = shards.parts(at, `?${query}`, accept)
    const body = await watchParts({ parts, query, signal, pause: 1, isTable: accept !== undefined })
    return new WatchHistory(body, ending)
  }
  const versionNow = async (at = configMaps): Promise<string> => {
    const chunks: Buffer[] = []
    for await (const chunk of listParts(shards.parts(at, ''), new URLSearchParams())) chunks.push(chunk)
    const list = JSON.parse(Buffer.concat(chunks).toString())
    return list.metadata.resourceVersion as string
  }
  const names = (watch: WatchHistory): readonly string[] => watch.lines().toSorted()
  const all = ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d', 'ADDED e']

  it('has the objects of both, then the changes of both', async () => {
    const watch = await watched('')
    await watch.until(events => events.length === 5)
    assert.deepEqual(names(watch), all)
    await shards.alpha.cluster('one', configMap('f'))
    await shards.beta.cluster('two', configMap('g'))
    await shards.beta.cluster('private', configMap('h'))
    await shards.beta.cluster('two', configMap('i'))
    await watch.until(events => events.length === 8)
    assert.deepEqual(names(watch), [...all, 'ADDED f', 'ADDED g', 'ADDED i'])
  })

  it('follows what the expression selects, and what the user may read', async () => {
    const watch = await watched(where("object.data['size'] == '9'"))
    await shards.resize('two', 'c', '9')
    await watch.until(events => events.length === 1)
    await shards.resize('one', 'a', '9')
    await watch.until(events => events.length === 2)
    await shards.resize('two', 'c', '1')
    await watch.until(events => events.length === 3)
    assert.deepEqual(watch.lines(), ['ADDED c', 'ADDED a', 'DELETED c'])
  })

  it('goes on after the version of a list, without an event twice and without a gap', async () => {
    const version = await versionNow()
    await shards.alpha.cluster('one', configMap('f'))
    await shards.beta.cluster('two', configMap('g'))
    const watch = await watched(`?resourceVersion=${version}`)
    await watch.until(events => events.length === 2)
    await shards.beta.cluster('two', configMap('h'))
    await watch.until(events => events.length === 3)
    assert.deepEqual(names(watch), ['ADDED f', 'ADDED g', 'ADDED h'])
  })

  it('ends the initial events once, with a version from which another watch goes on', async () => {
    const streaming = '?sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
    const watch = await watched(streaming)
    const events = await watch.until(found => found.some(({ object }) => endOf(object)))
    assert.equal(events.filter(({ object }) => endOf(object)).length, 1)
    const end = events.find(({ object }) => endOf(object))
    assert.deepEqual(
      events
        .slice(0, 5)
        .map(({ object }) => object.metadata.name)
        .toSorted(),
      ['a', 'b', 'c', 'd', 'e'],
    )
    assert.equal(events.length, 6)
    await shards.alpha.cluster('one', configMap('f'))
    const next = await watched(`?resourceVersion=${end?.object.metadata.resourceVersion}`)
    await next.until(found => found.length === 1)
    assert.deepEqual(next.lines(), ['ADDED f'])
  })

  it('is 410 from the version of one shard', () =>
    assert.rejects(watched('?resourceVersion=12'), { code: 410 }))

  it('is 404 where no shard has the resource', () =>
    assert.rejects(watched('', '/apis/example.com/v1/things'), { code: 404 }))

  it('follows a shard that later gets the resource', async () => {
    const at = '/apis/example.com/v1/things'
    const definition = crd('example.com', 'things', { color: { type: 'string' } })
    await shards.alpha.cluster('one', ...readThings, definition, thing('first', {}))
    const version = await versionNow(at)
    for (const search of ['', `?resourceVersion=${version}`]) {
      const watch = await watched(search, at)
      if (search === '') {
        await watch.until(events => events.length === 1)
        await shards.beta.cluster('two', ...readThings, definition, thing('second', {}))
      }
      await watch.until(events => events.some(({ object }) => object.metadata.name === 'second'))
      const expected = search === '' ? ['ADDED first', 'ADDED second'] : ['ADDED second']
      assert.deepEqual(watch.lines(), expected)
    }
  })

  it('has the columns of all shards, which are sent again only when a shard adds some', async () => {
    const at = '/apis/example.com/v1/things'
    const withColumn = (name: string): KubeObject => {
      const definition = crd('example.com', 'things', { color: { type: 'string' } }) as never as {
        spec: { versions: object[] }
      }
      const column = { name, type: 'string', jsonPath: '.spec.color' }
      const versions = definition.spec.versions.map(each => ({ ...each, additionalPrinterColumns: [column] }))
      return { ...definition, spec: { ...definition.spec, versions } } as never
    }
    await shards.alpha.cluster('one', ...readThings, withColumn('Color'), thing('a', { color: 'red' }))
    await shards.beta.cluster('two', ...readThings, withColumn('Paint'))
    const watch = await watched('', at, table)
    await watch.until(events => events.length === 1)
    await shards.beta.cluster('two', thing('b', { color: 'blue' }))
    await watch.until(events => events.length === 2)
    await shards.beta.cluster('two', thing('c', { color: 'green' }))
    await watch.until(events => events.length === 3)
    await shards.alpha.cluster('one', thing('d', { color: 'pink' }))
    const events = await watch.until(found => found.length === 4)
    const tables = events.map(({ object }) => object as never as Table)
    const own = (values: readonly unknown[] = []): readonly unknown[] =>
      values.filter(value => ['Color', 'Paint', 'red', 'blue', 'green', 'pink'].includes(String(value)))
    assert.deepEqual(
      tables.map(({ columnDefinitions: columns }) => own(columns?.map(({ name }) => name))),
      [['Color'], ['Color', 'Paint'], [], []],
    )
    const [, second, third, fourth] = tables
    const places = ['Color', 'Paint'].map(
      wanted => second?.columnDefinitions?.findIndex(({ name }) => name === wanted) ?? -1,
    )
    const cells = [second, third, fourth].map(table => places.map(place => table?.rows[0]?.cells[place]))
    assert.deepEqual(cells, [
      [null, 'blue'],
      [null, 'green'],
      ['pink', null],
    ])
  })

  it('ends when a shard ends its watch, so that the client watches both again', async () => {
    const watch = await watched('?timeoutSeconds=1')
    await watch.until(events => events.length === 5)
    while (!watch.hasEnded) await new Promise(resolve => setImmediate(resolve))
    assert.deepEqual(names(watch), all)
  })
})
