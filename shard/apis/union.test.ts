import assert from 'node:assert/strict'
import type { ApiResource } from '../../framework/contract/apis.ts'
import type { ItemEvent } from '../../framework/contract/item.ts'
import type { ListQuery } from '../../framework/contract/storage.ts'
import { resources } from '../../kcp/resources.ts'
import { bindIn, identity, resourceSchema, storageVersion, widgets } from '../testing/bindings.ts'
import { type TestShard, testShard } from '../testing/shard.ts'

describe('metadata over all identities', () => {
  const identities: Readonly<Record<string, string>> = {
    c1: identity,
    c2: 'b'.repeat(64),
    c3: 'c'.repeat(64),
  }
  let shard: TestShard
  let union: ApiResource
  const bind = async (cluster: string): Promise<void> => {
    const name = `${cluster}.widgets.example.com`
    const key = { cluster: 'provider', namespace: '', name }
    const wanted = resourceSchema(name, [storageVersion('v1')])
    const schema = await shard.client.create(resources.apiResourceSchemas, key, wanted)
    await shard.addCluster(cluster)
    await bindIn(shard, cluster, schema, { hash: identities[cluster] ?? '' })
  }
  const create = (cluster: string, name: string) =>
    shard.client.create(
      widgets,
      { cluster, namespace: '', name },
      {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name },
      },
    )
  const list = async (query: Partial<ListQuery> = {}) => {
    const found: string[] = []
    const reading = union.storage.list(shard.context(widgets, '*'), { cluster: '*', ...query })
    let next = await reading.next()
    for (; !next.done; next = await reading.next())
      for (const { key } of next.value) found.push(`${key.cluster}/${key.name}`)
    return { found, meta: next.value }
  }
  const watch = (initialEvents: boolean) =>
    union.storage.watch(shard.context(widgets, '*'), { cluster: '*', initialEvents, bookmarks: true })
  const told = ({ type, item }: ItemEvent): string => `${type} ${item.key.cluster}/${item.key.name}`

  beforeEach(async () => {
    shard = await testShard()
    for (const cluster of ['c1', 'c2']) {
      await bind(cluster)
      for (const name of ['a', 'b', 'c']) await create(cluster, name)
    }
    const found = shard.backend.apis('*')?.findMetadata?.('example.com', 'v7', 'widgets')
    assert.ok(found)
    union = found
  })
  afterEach(() => shard.stop())

  const all = ['c1/a', 'c1/b', 'c1/c', 'c2/a', 'c2/b', 'c2/c']

  it('exists for defined resources, and only as metadata', () => {
    const apis = shard.backend.apis('*')
    assert.equal(apis?.find('example.com', 'v1', 'widgets'), undefined)
    assert.equal(apis?.findMetadata?.('example.com', 'v1', 'gadgets'), undefined)
    assert.deepEqual(union.verbs, ['list', 'watch'])
  })

  it('is listed with the version in which each object is stored', async () => {
    const { value } = await union.storage.list(shard.context(widgets, '*'), { cluster: '*' }).next()
    const [item] = value as readonly { readonly meta: { readonly annotations: object } }[]
    assert.deepEqual(item?.meta.annotations, {
      'kcp.io/cluster': 'c1',
      'kcp.io/original-api-version': 'example.com/v1',
    })
    assert.deepEqual((await list()).found, all)
  })

  for (const limit of [1, 2, 3, 4, 6])
    it(`is listed in pages of ${limit}, at one revision`, async () => {
      const first = await list({ limit })
      const found = [...first.found]
      let { meta } = first
      if (meta.continue !== undefined) await create('c2', 'later')
      while (meta.continue !== undefined) {
        const page = await list({ limit, continue: meta.continue })
        assert.ok(page.found.length <= limit)
        assert.equal(page.meta.resourceVersion, first.meta.resourceVersion)
        found.push(...page.found)
        meta = page.meta
      }
      assert.deepEqual(found, all)
    })

  it('refuses continue tokens of other lists', () =>
    assert.rejects(list({ limit: 1, continue: 'e30' }), /continue key is not valid/))

  it('is watched in the order of revisions, with one end of the initial events', async () => {
    const watching = watch(true)
    const seen: string[] = []
    while (!seen.some(event => event.startsWith('BOOKMARK')))
      seen.push(...((await watching.next()).value ?? []).map(told))
    assert.deepEqual(
      seen.slice(0, -1).sort(),
      all.map(id => `ADDED ${id}`),
    )
    await Promise.all(['x', 'y'].flatMap(name => [create('c2', name), create('c1', name)]))
    const revisions: number[] = []
    while (revisions.length < 4)
      for (const { item } of (await watching.next()).value ?? [])
        revisions.push(Number(item.meta.resourceVersion))
    assert.deepEqual(
      revisions,
      [...revisions].sort((a, b) => a - b),
    )
    await watching.return()
  })

  it('ends a watch that would not see another identity', async () => {
    const watching = watch(false)
    const first = watching.next()
    await bind('c3')
    await create('c3', 'new')
    const rest = [...((await first).value ?? [])]
    for (let next = await watching.next(); !next.done; next = await watching.next()) rest.push(...next.value)
    assert.ok(!rest.map(told).includes('ADDED c3/new'))
    assert.ok((await list()).found.includes('c3/new'))
  })
})
