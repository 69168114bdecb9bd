import assert from 'node:assert/strict'
import { type KubeObject, StatusError } from '../../framework/index.ts'
import { badRequest, serviceUnavailable } from '../../framework/meta/errors.ts'
import { configMap, crd, idOf, readThings, thing, where } from '../../virtual/query/testing/scene.ts'
import { listParts } from './list.ts'
import type { ShardPart } from './part.ts'
import { chunksIn } from './testing/answering.ts'
import { TwoShards } from './testing/twoshards.ts'

const configMaps = '/api/v1/configmaps'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

interface List {
  readonly kind: string
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly KubeObject[]
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: KubeObject | null }[]
}

describe('a list of a query of two shards', () => {
  let shards: TwoShards
  beforeEach(async () => {
    shards = await TwoShards.start()
  })
  afterEach(() => shards.close())

  const listed = async (search: string, at = configMaps, accept?: string): Promise<List> => {
    const chunks: Buffer[] = []
    const list = listParts(shards.parts(at, search, accept), new URLSearchParams(search))
    for await (const chunk of list) chunks.push(chunk)
    return JSON.parse(Buffer.concat(chunks).toString()) as List
  }
  const ids = async (search: string): Promise<readonly string[]> => (await listed(search)).items.map(idOf)
  /** The names of all pages. */
  const pages = async (search: string): Promise<readonly (readonly string[])[]> => {
    const found: (readonly string[])[] = []
    for (let token = ''; ; ) {
      const { items, metadata } = await listed(`${search}&continue=${encodeURIComponent(token)}`)
      found.push(items.map(idOf))
      token = metadata.continue ?? ''
      if (token === '') return found
    }
  }

  it('has what the user may read on both, and nothing else', async () => {
    const list = await listed('')
    assert.equal(list.kind, 'ConfigMapList')
    assert.deepEqual(list.items.map(idOf), ['one/a', 'one/b', 'three/e', 'two/c', 'two/d'])
  })

  it('has the objects that the expression selects', async () =>
    assert.deepEqual(await ids(where("int(object.data['size']) > 2")), ['one/a', 'three/e', 'two/d']))

  it('is empty, with a version, where nothing is selected', async () => {
    const { items, metadata } = await listed(where('false'))
    assert.deepEqual(items, [])
    assert.match(metadata.resourceVersion, /^\d{30,}$/)
  })

  for (const limit of [1, 2, 3, 4])
    it(`has pages of ${limit}, which go on in the next shard`, async () => {
      const all = await pages(`?limit=${limit}`)
      assert.deepEqual(all.flat(), ['one/a', 'one/b', 'three/e', 'two/c', 'two/d'])
      assert.ok(
        all.every(page => page.length <= limit && page.length > 0),
        JSON.stringify(all),
      )
    })

  for (const limit of [0, 1, 2, 3, 5])
    for (const direction of ['', ' desc'])
      it(`is ordered by a value of both shards${direction}, in pages of ${limit}`, async () => {
        const order = encodeURIComponent(`object.data['size']${direction}`)
        const all = await pages(`?orderBy=${order}&limit=${limit}`)
        const ascending = ['one/b', 'two/c', 'one/a', 'three/e', 'two/d']
        assert.deepEqual(all.flat(), direction === '' ? ascending : ascending.toReversed())
      })

  it('does not show the annotation by which it is ordered', async () => {
    const { items } = await listed(`?orderBy=${encodeURIComponent("object.data['size']")}`)
    const names = items.flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}))
    assert.deepEqual([...new Set(names)], ['kcp.io/cluster'])
  })

  it('is sent in chunks of about 256 KiB when it is ordered, so that large objects do not fill the memory', async () => {
    const large = (name: string) => configMap(name, { size: '9', text: 'x'.repeat(300_000) })
    await shards.alpha.cluster('one', large('g'), large('h'), large('i'))
    const search = `?orderBy=${encodeURIComponent("object.data['size']")}`
    const chunks = await chunksIn(listParts(shards.parts(configMaps, search), new URLSearchParams(search)))
    assert.ok(
      chunks.every(({ length }) => length < 600_000),
      String(chunks.map(({ length }) => length)),
    )
    assert.equal(JSON.parse(Buffer.concat(chunks).toString()).items.length, 8)
  })

  it('has all pages of one revision', async () => {
    const first = await listed('?limit=1')
    await shards.beta.cluster('two', configMap('f'))
    const search = `?limit=9&continue=${first.metadata.continue}`
    const { items, metadata } = await listed(search)
    assert.deepEqual(items.map(idOf), ['one/b', 'three/e', 'two/c', 'two/d'])
    assert.equal(metadata.resourceVersion, first.metadata.resourceVersion)
  })

  it('is as it was at a version that a list has told', async () => {
    const { metadata } = await listed('')
    await shards.alpha.cluster('one', configMap('f'))
    const exact = `?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
    assert.deepEqual(await ids(exact), ['one/a', 'one/b', 'three/e', 'two/c', 'two/d'])
    assert.equal((await ids('')).length, 6)
  })

  for (const version of ['17', '1'.repeat(40)])
    it(`is 410 for the version ${version}, which is none of both shards`, () =>
      assert.rejects(listed(`?resourceVersion=${version}`), { code: 410 }))

  const position = (last: string) => `{"revision":"1","places":["",""],"last":${last}}`
  for (const text of [
    '\xff',
    'null',
    '{}',
    ...['null', '1', '{}', '{"id":[1],"value":1}', '{"id":[],"value":{}}'].map(position),
  ])
    it(`is 410 for the continue token of ${JSON.stringify(text)}`, () => {
      const token = Buffer.from(text, 'latin1').toString('base64url')
      return assert.rejects(listed(`?limit=1&orderBy=object.metadata.name&continue=${token}`), { code: 410 })
    })

  it('is 410 for a token with a changed token of a shard', async () => {
    const { metadata } = await listed('?limit=1')
    const start = JSON.parse(Buffer.from(metadata.continue ?? '', 'base64url').toString())
    assert.equal(start.places.length, 2)
    const forged = { ...start, places: [`${start.places[0]}x`, null] }
    const token = Buffer.from(JSON.stringify(forged)).toString('base64url')
    await assert.rejects(listed(`?limit=1&continue=${token}`), { code: 410 })
  })

  it('is refused with the words of a shard, before the first object', () =>
    assert.rejects(listed(where('object.nothing(')), (error: unknown) => {
      assert.ok(error instanceof StatusError)
      assert.equal(error.code, 400)
      assert.match(error.message, /where: /)
      return true
    }))

  it('is refused when a shard cannot be asked: a part of the objects would look like all', async () => {
    const down = { shard: 'down', ask: () => Promise.reject(serviceUnavailable('the shard cannot be asked')) }
    const parts = [...shards.parts(configMaps, ''), down]
    await assert.rejects(listParts(parts, new URLSearchParams()).next(), { code: 503 })
  })

  describe('of which the second one refuses after the probe', () => {
    const refused = (search: string) => {
      const [first, second] = shards.parts(configMaps, search)
      const ask: ShardPart['ask'] = parameters =>
        parameters.labelSelector === undefined
          ? Promise.reject(badRequest('costs too much'))
          : (second as ShardPart).ask(parameters)
      return listParts([first as ShardPart, { shard: 'beta', ask }], new URLSearchParams(search))
    }

    it('is refused before the first object', () =>
      assert.rejects(refused('').next(), { code: 400, message: 'costs too much' }))

    it('has a shorter page with a token, and the next page is refused', async () => {
      const chunks: Buffer[] = []
      for await (const chunk of refused('?limit=3')) chunks.push(chunk)
      const { items, metadata } = JSON.parse(Buffer.concat(chunks).toString()) as List
      assert.deepEqual(items.map(idOf), ['one/a', 'one/b'])
      const next = refused(`?limit=3&continue=${metadata.continue}`)
      await assert.rejects(next.next(), { code: 400, message: 'costs too much' })
    })
  })

  it('has the objects of one shard where the other has no such resource, and is 404 where none has it', async () => {
    const at = '/apis/example.com/v1/things'
    await assert.rejects(listed('', at), { code: 404 })
    const color = { color: { type: 'string' } }
    await shards.beta.cluster('two', ...readThings, crd('example.com', 'things', color), thing('t', {}))
    const { items, metadata } = await listed('', at)
    assert.deepEqual(items.map(idOf), ['two/t'])
    const exact = `?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
    assert.deepEqual((await listed(exact, at)).items.map(idOf), ['two/t'])
  })

  describe('as a Table', () => {
    const at = '/apis/example.com/v1/things'
    const withColumn = (name: string): KubeObject => {
      const definition = crd('example.com', 'things', { color: { type: 'string' } }) as never as {
        spec: { versions: object[] }
      }
      const column = { name, type: 'string', jsonPath: '.spec.color' }
      const [version] = definition.spec.versions
      const versions = [{ ...version, additionalPrinterColumns: [column] }]
      return { ...definition, spec: { ...definition.spec, versions } } as never
    }
    beforeEach(async () => {
      await shards.alpha.cluster('one', ...readThings, withColumn('Color'), thing('red', { color: 'red' }))
      await shards.beta.cluster('two', ...readThings, withColumn('Paint'), thing('blue', { color: 'blue' }))
    })

    for (const search of ['', '?limit=1', '?orderBy=object.spec.color+desc'])
      it(`has the columns of both, and each row its own cells (${search})`, async () => {
        const { columnDefinitions, rows, metadata } = await listed(search, at, table)
        const next = metadata.continue
          ? await listed(`${search}&continue=${metadata.continue}`, at, table)
          : undefined
        assert.deepEqual(
          columnDefinitions.map(({ name }) => name),
          ['Name', 'Color', 'Paint', 'Workspace'],
        )
        const cells = [...rows, ...(next?.rows ?? [])].map(row => row.cells.slice(0, 3))
        assert.deepEqual(cells, [
          ['red', 'red', null],
          ['blue', null, 'blue'],
        ])
      })

    it('has no objects in ordered rows that are asked without them', async () => {
      const { rows } = await listed('?orderBy=object.spec.color&includeObject=None', at, table)
      assert.deepEqual(
        rows.map(({ cells, object }) => [cells[0], object]),
        [
          ['blue', null],
          ['red', null],
        ],
      )
    })
  })
})
