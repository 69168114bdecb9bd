import assert from 'node:assert/strict'
import { createWorkspaceTree, type Place } from './workspacetree.ts'

const clusters = new Set(['root', 'a', 'b', 'system:admin'])
const exists = (cluster: string): boolean => clusters.has(cluster)
const workspace = (spec: object, phase = 'Ready') => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: {},
  spec,
  status: { phase },
})
const own = 'https://oriel.example'
const mount = (type: string, URL: string, phase?: string) => workspace({ mount: { type }, URL }, phase)

describe('workspace tree', () => {
  let tree: ReturnType<typeof createWorkspaceTree>
  const at = (path: string): Place | undefined => tree.place(path, exists)
  const kindOf = (path: string) => at(path)?.kind

  beforeEach(() => {
    tree = createWorkspaceTree(() => [own])
    tree.setWorkspace('root', 'org', workspace({ cluster: 'a' }))
    tree.setWorkspace('a', 'team', workspace({ cluster: 'b' }, 'Initializing'))
  })

  it('walks from a cluster that exists through workspaces', () => {
    assert.equal(tree.resolve('root:org:team', exists), 'b')
    assert.equal(tree.resolve('a:team', exists), 'b')
    assert.equal(tree.resolve('a', exists), 'a')
  })
  it('finds no other paths', () => {
    for (const path of ['c', 'root:c', 'root:team', 'root:org:team:more', 'system:shard'])
      assert.equal(tree.resolve(path, exists), undefined, path)
    assert.equal(tree.resolve('system:admin', exists), 'system:admin')
  })
  it('removes workspaces that were deleted or are being scheduled', () => {
    tree.setWorkspace('a', 'team', workspace({ cluster: 'b' }, 'Scheduling'))
    assert.equal(tree.resolve('root:org:team', exists), undefined)
    tree.setWorkspace('root', 'org', undefined)
    assert.equal(tree.resolve('root:org', exists), undefined)
  })
  it('is closed at and below an unavailable workspace, but not around it', () => {
    tree.setWorkspace('root', 'org', workspace({ cluster: 'a' }, 'Unavailable'))
    assert.equal(kindOf('root:org'), 'unavailable')
    assert.equal(kindOf('root:org:team'), 'unavailable')
    assert.equal(kindOf('root:org:unknown'), undefined)
    assert.equal(kindOf('a:team'), 'cluster')
    assert.equal(tree.resolve('root:org', exists), 'a')
  })

  describe('mounts', () => {
    it('lead out of the tree, and nothing lies below them', () => {
      tree.setWorkspace('a', 'remote', mount('URL', 'https://peer.example/base/'))
      const place = at('root:org:remote')
      assert.ok(place?.kind === 'URL')
      assert.deepEqual([place.url, place.parent], ['https://peer.example/base', 'a'])
      assert.equal(at('root:org:remote:child'), undefined)
      assert.equal(tree.resolve('root:org:remote', exists), undefined)
    })
    it('follow the table of phases', () => {
      for (const [phase, url, kind] of [
        ['Scheduling', 'https://peer', undefined],
        ['Unavailable', '', undefined],
        ['Unavailable', 'https://peer', 'unavailable'],
        ['Ready', '', undefined],
        ['Ready', 'https://peer', 'URL'],
      ] as const) {
        tree.setWorkspace('root', 'm', mount('Cluster', url, phase))
        assert.equal(kindOf('root:m'), kind, `${phase} ${url}`)
      }
    })
    it('report changes, and nothing else', () => {
      tree.setWorkspace('root', 'm', mount('URL', 'https://peer'))
      const place = at('root:m')
      assert.ok(place?.kind === 'URL')
      tree.setWorkspace('root', 'm', mount('URL', 'https://peer/'))
      assert.equal(place.changed.aborted, false)
      tree.setWorkspace('root', 'm', mount('URL', 'https://peer', 'Unavailable'))
      assert.equal(place.changed.aborted, true)
    })
    it('report that their parent is forgotten', () => {
      tree.setWorkspace('a', 'm', mount('URL', 'https://peer'))
      tree.setWorkspace('root', 'm', mount('URL', 'https://peer'))
      const [forgotten, kept] = [at('root:org:m'), at('root:m')]
      assert.ok(forgotten?.kind === 'URL' && kept?.kind === 'URL')
      tree.forget(new Set(['a']))
      assert.deepEqual([forgotten.changed.aborted, kept.changed.aborted], [true, false])
    })
    it('of workspaces of this tree are gone on from, by type or by URL', () => {
      for (const type of ['Workspace', 'URL', 'Cluster']) {
        tree.setWorkspace('root', 'link', mount(type, `${own}/clusters/root:org`))
        assert.equal(tree.resolve('root:link', exists), 'a')
        assert.equal(tree.resolve('root:link:team', exists), 'b')
        assert.equal(at('root:link:unknown'), undefined)
      }
      tree.setWorkspace('root', 'far', mount('Workspace', 'https://peer/clusters/root:org'))
      assert.equal(at('root:far'), undefined)
    })
    it('redirect with the rest of the path', () => {
      tree.setWorkspace('root', 'moved', mount('Redirect', `${own}/clusters/root:org`))
      const place = at('root:moved:team')
      assert.ok(place?.kind === 'Redirect')
      assert.deepEqual([place.url, place.rest], [`${own}/clusters/root:org`, ':team'])
    })
    it('are unavailable when a link or its target is unavailable', () => {
      tree.setWorkspace('root', 'link', mount('Workspace', `${own}/clusters/root:org:team`, 'Unavailable'))
      assert.equal(kindOf('root:link'), 'unavailable')
      tree.setWorkspace('root', 'link', mount('Workspace', `${own}/clusters/root:org:team`))
      tree.setWorkspace('root', 'org', workspace({ cluster: 'a' }, 'Unavailable'))
      assert.equal(kindOf('root:link'), 'unavailable')
    })
    it('do not follow cycles forever', () => {
      tree.setWorkspace('root', 'x', mount('Workspace', `${own}/clusters/root:y`))
      tree.setWorkspace('root', 'y', mount('Workspace', `${own}/clusters/root:x`))
      assert.equal(kindOf('root:x'), 'loop')
      tree.setWorkspace('root', 'z', mount('Workspace', `${own}/clusters/root:z:z`))
      assert.equal(kindOf('root:z'), 'loop')
    })
  })
})
