import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/meta/object.ts'
import { labelEquals, matchesLabels } from '../../framework/selectors/selectors.ts'
import { claimLabelKey, claimLabelValue, exportHash, exportLabel } from '../../kcp/labels.ts'
import { resources } from '../../kcp/resources.ts'
import type { WatchCache } from '../cache/contract.ts'
import { type TestShard, testShard } from '../testing/shard.ts'
import { claimsDecorator } from './index.ts'

const provider = { cluster: 'provider', name: 'widgets' }
const [key, value] = [claimLabelKey(provider), claimLabelValue({ group: '', resource: 'configmaps' })]

const binding = (state: string): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'b', labels: { [exportLabel]: exportHash(provider) } },
  spec: {
    reference: { export: { path: 'provider', name: 'widgets' } },
    permissionClaims: [
      {
        group: '',
        resource: 'configmaps',
        verbs: ['*'],
        selector: { matchLabels: { tier: 'front' } },
        state,
      },
    ],
  },
})

const configMap = (name: string, labels: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
})

describe('claims in the cache', () => {
  let shard: TestShard
  let cache: WatchCache
  const at = (name: string, namespace = '') => ({ cluster: 'c1', namespace, name })
  beforeEach(async () => {
    const decorate = (of: WatchCache) => {
      cache = of
      return claimsDecorator(of)
    }
    shard = await testShard({ decorate })
    await shard.addCluster('c1')
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
    await shard.client.create(resources.namespaces, at('default'), namespace)
    await shard.client.create(
      resources.configMaps,
      at('front', 'default'),
      configMap('front', { tier: 'front' }),
    )
    await shard.client.create(
      resources.configMaps,
      at('back', 'default'),
      configMap('back', { tier: 'back' }),
    )
  })
  afterEach(() => shard.stop())

  const decide = (state: string): Promise<KubeObject> =>
    shard.client.update(resources.apiBindings, at('b'), current => ({
      ...current,
      spec: binding(state).spec,
    }))

  it('shows objects to a running watch when a claim is accepted, and hides them when it is rejected', async () => {
    const seen: string[] = []
    const storage = shard.backend.storage(resources.configMaps)
    const selection = { cluster: '*', labels: labelEquals(key, value) } as const
    const query = { ...selection, initialEvents: true, bookmarks: false } as const
    const watch = storage.watch(shard.context(resources.configMaps, '*'), query)
    const next = async (): Promise<void> => {
      const { value: events = [] } = await watch.next()
      for (const { type, item } of events ?? []) {
        if (type !== 'BOOKMARK') seen.push(`${type} ${item.key.name} ${item.meta.resourceVersion}`)
      }
    }
    const until = async (count: number): Promise<void> => {
      while (seen.length < count) await next()
    }
    const made = await shard.client.create(resources.apiBindings, at('b'), binding('Accepted'))
    await until(1)
    const rejected = await decide('Rejected')
    await until(2)
    const again = await decide('Accepted')
    await until(3)
    const versions = [made, rejected, again].map(({ metadata }) => metadata.resourceVersion)
    assert.deepEqual(seen, [
      `ADDED front ${versions[0]}`,
      `DELETED front ${versions[1]}`,
      `ADDED front ${versions[2]}`,
    ])
    await watch.return()
  })
  it('follows the labels of the object', async () => {
    await shard.client.create(resources.apiBindings, at('b'), binding('Accepted'))
    const labelled = (name: string): boolean => {
      const item = shard.informers.for(resources.configMaps).get('c1', 'default', name)
      return item !== undefined && matchesLabels(labelEquals(key, value), item.meta.labels)
    }
    assert.deepEqual([labelled('front'), labelled('back')], [true, false])
    await shard.client.update(resources.configMaps, at('back', 'default'), current => ({
      ...current,
      metadata: { ...current.metadata, labels: { tier: 'front' } },
    }))
    assert.equal(labelled('back'), true)
  })
  it('keep nothing of resources that nobody has used, whatever tenants claim', async () => {
    const claims = Array.from({ length: 100 }, (_, i) => ({
      ...{ group: 'any.example.com', resource: `unknown${i}`, identityHash: 'hash' },
      ...{ verbs: ['*'], selector: { matchAll: true }, state: 'Accepted' },
    }))
    const known = [...cache.resources()].length
    const made = binding('Accepted')
    const spec = { ...(made.spec as object), permissionClaims: claims }
    await shard.client.create(resources.apiBindings, at('b'), { ...made, spec })
    assert.equal([...cache.resources()].length, known)
  })

  it('stores neither its labels nor those that clients send', async () => {
    await shard.client.create(resources.apiBindings, at('b'), binding('Accepted'))
    await shard.client.update(resources.configMaps, at('back', 'default'), current => ({
      ...current,
      metadata: { ...current.metadata, labels: { tier: 'back', [key]: value } },
    }))
    const labels = (name: string) =>
      shard.informers.for(resources.configMaps).get('c1', 'default', name)?.meta.labels
    assert.deepEqual(labels('back'), { tier: 'back' })
    await shard.client.delete(resources.apiBindings, at('b'))
    assert.deepEqual(labels('front'), { tier: 'front' })
  })
})
