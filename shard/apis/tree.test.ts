import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/object.ts'
import { createWorkspaceTree } from './tree.ts'

const workspace = (cluster: string, phase?: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: 'w' },
  spec: { cluster },
  status: phase === undefined ? {} : { phase },
})

describe('workspace tree', () => {
  const exists = (cluster: string): boolean => ['root', 'c1', 'c2', 'system:admin'].includes(cluster)
  const tree = createWorkspaceTree()
  tree.setWorkspace('root', 'org', workspace('c1', 'Ready'))
  tree.setWorkspace('c1', 'team', workspace('c2', 'Initializing'))
  tree.setWorkspace('root', 'new', workspace('c3', 'Scheduling'))
  tree.setWorkspace('root', 'newer', workspace('c1'))
  tree.setWorkspace('root', 'dead', workspace('c4', 'Ready'))
  const cases: readonly (readonly [path: string, cluster: string | undefined])[] = [
    ['root', 'root'],
    ['root:org', 'c1'],
    ['root:org:team', 'c2'],
    ['c1:team', 'c2'],
    ['c2', 'c2'],
    ['system:admin', 'system:admin'],
    ['system:other', undefined],
    ['root:new', undefined],
    ['root:newer', undefined],
    ['root:dead', undefined],
    ['root:org:none', undefined],
    ['root:none:team', undefined],
    ['nowhere', undefined],
    ['', undefined],
  ]
  for (const [path, cluster] of cases)
    it(`resolves ${path || 'the empty path'} to ${cluster ?? 'nothing'}`, () =>
      assert.equal(tree.resolve(path, exists), cluster))

  it('forgets a workspace that is gone', () => {
    tree.setWorkspace('c2', 'x', workspace('root', 'Ready'))
    tree.setWorkspace('c2', 'x', undefined)
    assert.equal(tree.resolve('c2:x', exists), undefined)
  })
})
