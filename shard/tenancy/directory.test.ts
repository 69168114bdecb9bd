import assert from 'node:assert/strict'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import { itemOf } from '../../framework/contract/item.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { createDirectory } from '../../remote/directory.ts'
import { amongCopies } from './directory.ts'

describe('the logical cluster of a path of another shard', () => {
  const clusters = Object.entries({ a: 'root:one', b: 'root:two', c: 'root:two' }).map(([cluster, path]) => {
    const metadata = { name: logicalClusterName, annotations: { 'kcp.io/path': path } }
    return itemOf({ apiVersion: 'core.kcp.io/v1alpha1', kind: 'LogicalCluster', metadata }, cluster)
  })
  const informer = {
    get: cluster => clusters.find(({ key }) => key.cluster === cluster),
    index: fn => path => clusters.filter(item => fn(item).includes(path)),
  } as Pick<Informer, 'get' | 'index'> as Informer
  const informers: Informers = { for: () => informer }
  for (const [where, resolve] of [
    ['copies', (path: string) => amongCopies(informers, path)],
    ['the logical clusters of a shard', createDirectory(informers).resolve],
  ] as const)
    it(`is found among ${where}, unless several have the path`, () => {
      assert.equal(resolve('root:one'), 'a')
      assert.equal(resolve('root:two'), undefined)
      assert.equal(resolve('b'), 'b')
      assert.equal(resolve('root:none'), undefined)
    })
})
