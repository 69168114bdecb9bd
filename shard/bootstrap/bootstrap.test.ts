import assert from 'node:assert/strict'
import type { PolicyRule } from '../../authz/rbac/policyrule.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import { resources } from '../../kcp/resources.ts'
import { compileCached } from '../../openapi/compile.ts'
import { schemaFor } from '../../openapi/definitions/definition.ts'
import { kcpKinds } from '../../openapi/definitions/kcp/index.ts'
import { mountKinds } from '../../openapi/definitions/kcp/kubecluster.ts'
import { builtinKinds } from '../../openapi/definitions/kubernetes/index.ts'
import { decodeStored, parseStorageKey } from '../cache/codec.ts'
import { applyManifests, storedObject } from '../manifests/apply.ts'
import { createOnlyAnnotation, type Manifest } from '../manifests/manifest.ts'
import { clusterRole, read, rule } from '../manifests/rbac.ts'
import { openMemoryStore } from '../store/memory.ts'
import type { Store } from '../store/store.ts'
import { bootstrap } from './bootstrap.ts'
import { systemPolicy } from './policy.ts'

const shard = {
  name: 'root',
  baseURL: 'https://localhost:6443',
  externalURL: 'https://localhost:6443',
  virtualWorkspaceURL: 'https://localhost:6443',
}

async function objectsOf(store: Store): Promise<{ readonly key: string; readonly object: KubeObject }[]> {
  const found: { key: string; object: KubeObject }[] = []
  for await (const values of store.range('/registry/', '/registry0'))
    for (const { key, value } of values) found.push({ key, object: decodeObject(decodeStored(value).bytes) })
  return found
}

/** The schema's opinion of an object. */
function problems(object: KubeObject): readonly unknown[] {
  const [version = '', group = ''] = object.apiVersion.split('/').reverse()
  const kind = [...kcpKinds, ...mountKinds, ...builtinKinds].find(
    k => k.names.kind === object.kind && k.group === group,
  )
  assert.ok(kind, object.kind)
  const schema = compileCached(schemaFor(kind, version))
  const { object: decoded, unknown } = schema.decode(object)
  assert.deepEqual(decoded, object, 'defaults are filled in')
  return [...unknown, ...schema.validate(object)]
}

const role = (name: string, verbs: readonly string[], annotations = {}): Manifest => ({
  cluster: 'root',
  resource: resources.clusterRoles,
  object: clusterRole(name, [rule(verbs, '', ['configmaps'])], { annotations }),
})

describe('bootstrap', () => {
  it('writes once', async () => {
    const store = openMemoryStore()
    const first = await bootstrap({ store, shard })
    assert.equal(store.revision, 1)
    assert.deepEqual(await bootstrap({ store, shard }), first)
    assert.equal(store.revision, 1)
  })
  it('writes objects that the API would have accepted, under their own keys', async () => {
    const store = openMemoryStore()
    await bootstrap({ store, shard })
    for (const { key, object } of await objectsOf(store)) {
      assert.deepEqual(problems(object), [], `${object.kind} ${object.metadata.name}`)
      const parsed = parseStorageKey(key)
      assert.equal(parsed?.key.name, object.metadata.name)
      assert.equal(parsed?.key.cluster, object.metadata.annotations?.['kcp.io/cluster'])
    }
  })
  it('sorts the members of rules in the system policy, as Kubernetes does', () => {
    const rules = systemPolicy().flatMap(({ rules }) => (rules as readonly PolicyRule[] | undefined) ?? [])
    assert.deepEqual(
      rules.find(({ nonResourceURLs }) => nonResourceURLs?.includes('/openapi'))?.nonResourceURLs,
      [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
      ].concat('/version', '/version/'),
    )
    for (const rule of rules)
      for (const values of Object.values(rule)) assert.deepEqual(values, values.toSorted())
  })
  it('lets viewers read and editors write the events of both groups', () => {
    const verbsOf = (name: string): readonly string[] | undefined => {
      const role = systemPolicy().find(
        ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name,
      )
      const rules = ((role?.rules ?? []) as readonly PolicyRule[]).filter(({ resources }) =>
        resources?.includes('events'),
      )
      assert.ok(rules.every(({ apiGroups }) => apiGroups?.join() === ',events.k8s.io'))
      return rules.flatMap(({ verbs }) => verbs)
    }
    assert.deepEqual(verbsOf('view'), ['get', 'list', 'watch'])
    const writing = ['create', 'delete', 'deletecollection', 'patch', 'update']
    assert.deepEqual(verbsOf('edit'), [...writing, 'get', 'list', 'watch'])
  })
  it('names the schemas of root as kcp does', async () => {
    const store = openMemoryStore()
    await bootstrap({ store, shard })
    const names = (await objectsOf(store))
      .filter(({ object }) => object.kind === 'APIResourceSchema')
      .map(({ object }) => object.metadata.name)
    assert.deepEqual(names.toSorted(), [
      'v240903-d6797056a.partitions.topology.kcp.io',
      'v240903-d6797056a.partitionsets.topology.kcp.io',
      'v250827-717cfea84.workspaceauthenticationconfigurations.tenancy.kcp.io',
      'v250920-de0c8484d.clustercachedresources.cache.kcp.io',
      'v260302-ae9fdd9c1.shards.core.kcp.io',
      'v260519-96f2749.workspacetypes.tenancy.kcp.io',
      'v260522-2bf05df66.workspaces.tenancy.kcp.io',
      'v260702-7381341f5.logicalclustermigrations.migration.kcp.io',
      'v260804-b35f3bb61.clustercachedresourceendpointslices.cache.kcp.io',
      'v261121-oriel.kubeclusters.mounts.contrib.kcp.io',
    ])
  })
  it('follows its addresses', async () => {
    const store = openMemoryStore()
    const { shards } = await bootstrap({ store, shard })
    await bootstrap({ store, shard: { ...shard, externalURL: 'https://elsewhere' } })
    const manifest = {
      cluster: 'root',
      resource: shards,
      object: { apiVersion: '', kind: '', metadata: { name: 'root' } },
    }
    const stored = await storedObject(store, manifest)
    assert.ok(stored)
    assert.equal((stored.spec as { externalURL: string }).externalURL, 'https://elsewhere')
    assert.equal(stored.metadata.generation, 2)
  })
})

describe('applying manifests', () => {
  it('reverts edits', async () => {
    const store = openMemoryStore()
    assert.equal(await applyManifests(store, [role('a', read)]), 1)
    assert.equal(await applyManifests(store, [role('a', ['get'])]), 1)
    const stored = await storedObject(store, role('a', read))
    assert.deepEqual(stored?.rules, [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }])
    assert.equal(await applyManifests(store, [role('a', ['get'])]), 0)
  })
  it('does not change create-only objects', async () => {
    const store = openMemoryStore()
    await applyManifests(store, [role('a', read, { [createOnlyAnnotation]: 'true' })])
    assert.equal(await applyManifests(store, [role('a', ['get'])]), 0)
  })
})
