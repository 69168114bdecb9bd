import assert from 'node:assert/strict'
import { crd, readThings } from '../../virtual/query/testing/scene.ts'
import { answering, chunksIn, documentIn } from './testing/answering.ts'
import { TwoShards } from './testing/twoshards.ts'

async function textOf({ body }: Awaited<ReturnType<typeof documentIn>>): Promise<string> {
  return Buffer.isBuffer(body) ? body.toString() : Buffer.concat(await chunksIn(body)).toString()
}

const united = async (...documents: readonly unknown[]): Promise<unknown> =>
  JSON.parse(await textOf(await documentIn(documents.map(each => answering(JSON.stringify(each))))))

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

describe('discovery of a query of two shards', () => {
  let shards: TwoShards
  before(async () => {
    shards = await TwoShards.start()
    const properties = { color: { type: 'string' } }
    await shards.alpha.cluster('one', ...readThings, crd('example.com', 'things', properties))
    await shards.beta.cluster('two', ...readThings, crd('example.com', 'others', properties))
    await shards.beta.cluster('private', ...readThings.slice(0, 1), crd('example.com', 'hidden', properties))
  })
  after(() => shards.close())

  const document = async (at: string, accept?: string): Promise<string> => {
    return textOf(await documentIn(shards.parts(at, '', accept)))
  }

  it('has the resources of both in one group, and none of a logical cluster that the user cannot access', async () => {
    const { items } = JSON.parse(await document('/apis', aggregated))
    const groups = items.filter(
      ({ metadata }: { metadata: { name: string } }) => metadata.name === 'example.com',
    )
    assert.equal(groups.length, 1)
    const [{ resources }] = groups[0].versions
    const names = resources.map(({ resource }: { resource: string }) => resource)
    assert.deepEqual(names.toSorted(), ['others', 'things'])
  })

  it('has them also in the older form', async () => {
    const { groups } = JSON.parse(await document('/apis'))
    assert.equal(groups.filter(({ name }: { name: string }) => name === 'example.com').length, 1)
    const { resources } = JSON.parse(await document('/apis/example.com/v1'))
    const names = resources.map(({ name }: { name: string }) => name)
    assert.deepEqual(names.toSorted(), ['others', 'things'])
    assert.deepEqual(JSON.parse(await document('/api')).versions, ['v1'])
  })

  it('has the schemas of both', async () => {
    const { paths } = JSON.parse(await document('/openapi/v3'))
    assert.ok(paths['apis/example.com/v1'], JSON.stringify(Object.keys(paths)))
    const text = await document('/openapi/v3/apis/example.com/v1')
    for (const plural of ['things', 'others']) assert.ok(text.includes(`/example.com/v1/${plural}`), plural)
    assert.ok(!text.includes('/example.com/v1/hidden'))
  })

  it('is 404 for a group that no shard has', () =>
    assert.rejects(document('/apis/nothing.example.com/v1'), { code: 404 }))

  it('has the first definition of what both define', async () => {
    const kind = (name: string, responseKind: string) => ({ resource: name, responseKind })
    const group = (...resources: object[]) => ({
      items: [{ metadata: { name: 'g' }, versions: [{ version: 'v1', resources }] }],
    })
    assert.deepEqual(
      await united(group(kind('a', 'First')), group(kind('a', 'Second'), kind('b', 'Other'))),
      group(kind('a', 'First'), kind('b', 'Other')),
    )
  })

  it('has maps of several levels, empty ones, and members with any name', async () => {
    const paths = { '/a,"]}': { get: 'one' }, constructor: {}, ['__proto__']: {} }
    const one = { openapi: '3.0.0', paths, components: { schemas: {} }, definitions: {} }
    const other = {
      openapi: '3.1',
      paths: { '/a,"]}': 2, '/b': [] },
      components: { schemas: { S: { items: 1 } } },
    }
    assert.deepEqual(await united(one, other, { paths: { '/c': 3 }, components: 5 }), {
      ...one,
      paths: { ...paths, '/b': [], '/c': 3 },
      components: { schemas: { S: { items: 1 } } },
    })
  })

  it('is 502 where a shard answers with another text', async () => {
    for (const text of ['', '[]', 'no'])
      await assert.rejects(documentIn([answering('{}'), answering(text)]), { code: 502 })
  })

  it('ends, whatever bytes a shard sends', async () => {
    for (const text of [
      '{"items":[}',
      '{"items":[,,',
      '{"paths":{"a',
      '{,,',
      '{"items":[{"a":1}{',
      '{"versions":[1 2',
    ])
      await textOf(await documentIn([answering(text), answering(text)]))
  })
})
