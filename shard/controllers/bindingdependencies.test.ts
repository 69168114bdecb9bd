import assert from 'node:assert/strict'
import type { Informers } from '../../framework/contract/informer.ts'
import type { APIBinding, APIResourceSchema } from '../../kcp/apis.ts'
import { exportHash, exportLabel } from '../../kcp/labels.ts'
import { resources } from '../../kcp/resources.ts'
import type { ClusterDirectory } from '../tenancy/directory.ts'
import { countingInformer } from '../testing/countinginformer.ts'
import { bindingSources, createLocks, dependenciesOf, exportOf } from './bindingdependencies.ts'

const count = 500
const each = <T>(make: (i: number) => T): readonly T[] => Array.from({ length: count }, (_, i) => make(i))

const named = (plural: string, kind: string) => ({
  plural,
  singular: kind.toLowerCase(),
  kind,
  listKind: `${kind}List`,
})

const schema = (i: number): APIResourceSchema => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: `v1.b${i}s.example.com`, uid: `u${i}` },
  spec: { group: 'example.com', names: named(`b${i}s`, `B${i}`), scope: 'Cluster', versions: [] },
})

const binding = (i: number): APIBinding => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: `b${i}` },
  spec: { reference: { export: { name: `e${i}` } } },
  status: {
    boundResources: [
      { group: 'example.com', resource: `b${i}s`, schema: { name: '', UID: `u${i}`, identityHash: 'h' } },
    ],
  },
})

const definition = (i: number) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `d${i}s.example.com` },
  spec: { group: 'example.com', names: named(`d${i}s`, `D${i}`) },
})

describe('the dependencies of a binding', () => {
  const counting = {
    [resources.apiBindings.resource]: countingInformer(each(binding)),
    [resources.crds.resource]: countingInformer(each(definition)),
    [resources.apiResourceSchemas.resource]: countingInformer(each(schema)),
    [resources.apiExports.resource]: countingInformer([]),
  }
  const informers = { for: ({ resource }) => counting[resource]?.informer } as Informers
  const bindings = { sources: bindingSources(informers), locks: createLocks() }
  const of = (name: string) =>
    dependenciesOf(
      bindings,
      { ...binding(7), metadata: { name }, status: {} },
      { cluster: 'root', exported: undefined },
    )
  const wanted = (plural: string, kind: string): APIResourceSchema => ({
    ...schema(0),
    spec: { ...schema(0).spec, names: named(plural, kind) },
  })
  const holders = (plural: string, kind: string) =>
    of('new')
      .taken(wanted(plural, kind))
      .map(({ by }) => by)

  it('are who has a resource', () => {
    assert.deepEqual(of('new').take('b7s.example.com'), { binding: 'b7', crd: false })
    assert.deepEqual(of('new').take('d7s.example.com'), { binding: '', crd: true })
    assert.equal(of('b7').take('b7s.example.com'), undefined)
    assert.equal(of('new').take('others.example.com'), undefined)
  })

  it('are who has a name', () => {
    assert.deepEqual(holders('others', 'B7'), ['APIBinding "b7" bound to local APIExport "e7"'])
    assert.deepEqual(holders('d7', 'Other'), ['CustomResourceDefinition "d7s.example.com"'])
    assert.deepEqual(holders('others', 'Other'), [])
    assert.deepEqual(of('b7').taken(wanted('b7s', 'B7')), [])
  })

  it('do not need the objects of all bindings and definitions', () => {
    for (const { reads } of Object.values(counting)) reads.count = 0
    holders('b7s', 'D7')
    of('other').take('b9s.example.com')
    const reads = Object.values(counting).reduce((sum, { reads }) => sum + reads.count, 0)
    assert.ok(reads > 0 && reads < 30, String(reads))
  })
})

describe('the export of a binding', () => {
  const homes: Record<string, string> = { 'root:a': 'first' }
  const directory = {
    referencedCluster: ({ path = '' }) => homes[path],
    apiExport: (cluster: string, name: string) => ({ metadata: { name, uid: cluster } }),
  } as unknown as ClusterDirectory
  const bound: APIBinding = {
    ...binding(1),
    metadata: { name: 'b', labels: { [exportLabel]: exportHash({ cluster: 'first', name: 'e' }) } },
    spec: { reference: { export: { path: 'root:a', name: 'e' } } },
  }

  it('is the one whose permission was checked, and no other to which its path leads later', () => {
    assert.equal(exportOf(directory, 'root', bound).exported?.cluster, 'first')
    homes['root:a'] = 'second'
    assert.deepEqual(exportOf(directory, 'root', bound), { exported: undefined, isAnother: true })
    delete homes['root:a']
    assert.deepEqual(exportOf(directory, 'root', bound), { exported: undefined, isAnother: false })
  })
})
