import assert from 'node:assert/strict'
import type { Informer, Informers } from '../../framework/contract/informer.ts'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import { logicalClusterName } from '../../kcp/logicalclusters.ts'
import { workspaceIssuers } from './workspaceissuers.ts'

type Texts = Readonly<Record<string, string>>

const annotated = (kind: string, name: string, annotations: Texts, spec = {}, cluster = 'c1') =>
  itemOf({ apiVersion: 'x/v1', kind, metadata: { name, annotations }, spec }, cluster)

/** All objects exist, except for those of a resource that is listed. */
function informersOf(listed: Readonly<Record<string, readonly Item[]>>): Informers {
  const none = (): never => assert.fail('not used')
  return {
    for: ({ resource }): Informer => ({
      get: (cluster, _namespace, name) => {
        const known = listed[resource]
        if (known !== undefined) return known.find(({ key }) => key.name === name)
        return itemOf({ apiVersion: 'x/v1', kind: 'Any', metadata: { name } }, cluster)
      },
      list: none,
      index: fn => key => (listed[resource] ?? []).filter(item => fn(item).includes(key)),
      onEvent: none,
      synced: Promise.resolve(),
    }),
  }
}

describe('the authentication configurations of a workspace', () => {
  const of = (types: readonly Item[], annotations: Texts = {}): readonly Item[] => {
    const own = { 'internal.tenancy.kcp.io/type': 'root:org:team', ...annotations }
    const cluster = annotated('LogicalCluster', logicalClusterName, own)
    const informers = informersOf({ workspacetypes: types, logicalclusters: [cluster] })
    const workspaceTypes = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspacetypes' }
    return workspaceIssuers(informers, workspaceTypes)('c1')
  }
  const typeIn = (cluster: string, ...names: readonly string[]): Item => {
    const spec = { authenticationConfigurations: names.map(name => ({ name })) }
    return annotated('WorkspaceType', 'team', { 'kcp.io/path': 'root:org' }, spec, cluster)
  }
  const named = (names: readonly string[]): readonly string[] =>
    of([typeIn('c1', ...names)]).map(({ key }) => key.name)

  it('are those that its type names, each once', () => {
    assert.deepEqual(named(['a', 'b', 'a', 'a']), ['a', 'b'])
  })

  it('are the first 16 of a type that was stored with more', () => {
    const names = Array.from({ length: 40 }, (_, i) => `c${i}`)
    assert.deepEqual(named(['c0', ...names]), names.slice(0, 16))
  })

  it('are not those of a type that another tenant has at the same path', () => {
    const homes = (types: readonly Item[], annotations?: Texts) =>
      of(types, annotations).map(({ key }) => key.cluster)
    const admitted = { 'internal.oriel.dev/workspace-types': 'root:universal,first:team' }
    const [first, second] = [typeIn('first', 'a'), typeIn('second', 'a')]
    assert.deepEqual(homes([first], admitted), ['first'])
    assert.deepEqual(homes([second], admitted), [])
    assert.deepEqual(homes([first, second], admitted), ['first'])
    // A workspace that comes from kcp.
    assert.deepEqual(homes([second]), ['second'])
    assert.deepEqual(homes([first, second]), [])
  })
})
