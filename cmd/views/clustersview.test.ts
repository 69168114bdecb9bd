import assert from 'node:assert/strict'
import type { Host } from '../../framework/contract/workspace.ts'
import { resources } from '../../kcp/resources.ts'
import { type TestShard, testShard } from '../../shard/testing/shard.ts'
import { clustersView } from './clustersview.ts'

describe('the view of logical clusters', () => {
  let shard: TestShard
  const apisOf = (cluster: string) => clustersView({ backend: shard.backend } as Host).apis({}, cluster)
  beforeEach(async () => {
    shard = await testShard()
    await shard.addCluster('c1')
  })
  afterEach(() => shard.stop())

  it('serves what the backend serves', () => {
    assert.equal(apisOf('c1'), shard.backend.apis('c1'))
  })

  it('lets built-in kinds be read in an unknown logical cluster, and only a LogicalCluster be created', async () => {
    const apis = apisOf('gone')
    const writable = apis?.resources.filter(({ verbs }) =>
      verbs.some(verb => !/^(get|list|watch)$/.test(verb)),
    )
    assert.deepEqual(
      writable?.map(({ names, verbs }) => [names.plural, verbs]),
      [['logicalclusters', ['create', 'get']]],
    )
    assert.deepEqual(
      apis?.resources.filter(({ subresources }) => subresources.length > 0),
      [],
    )
    const configMaps = apis?.find('', 'v1', 'configmaps')
    assert.deepEqual(configMaps?.verbs, ['get', 'list', 'watch'])
    const list = configMaps?.storage.list(shard.context(resources.configMaps, 'gone'), { cluster: 'gone' })
    const first = await list?.next()
    assert.equal(first?.done, true)
  })
})
