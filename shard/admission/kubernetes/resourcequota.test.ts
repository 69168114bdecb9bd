import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { until } from '../../testing/shard.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'
import type { ResourceQuota } from './resourcequota.ts'

const counted = 'count/configmaps'

describe('several ResourceQuotas in a namespace', () => {
  let tenant: TestTenant
  const place = (name: string) => ({ cluster: 'c1', namespace: 'default', name })
  const usedOf = (name: string): string | undefined => {
    const { informers } = tenant.shard
    const found = informers.for(resources.resourceQuotas).get('c1', 'default', name)?.object as ResourceQuota
    return found?.status?.used?.[counted]
  }

  before(async () => {
    tenant = await testTenant()
    void tenant.shard.run()
    for (const [name, hard] of [
      ['large', '9'],
      ['small', '1'],
    ] as const) {
      const quota: KubeObject = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name, namespace: 'default' },
        // Without expressions it selects everything.
        spec: { hard: { [counted]: hard }, ...(name === 'small' && { scopeSelector: {} }) },
      }
      await tenant.shard.client.create(resources.resourceQuotas, place(name), quota)
    }
    const isCounted = (): true | undefined =>
      usedOf('large') === '0' && usedOf('small') === '0' ? true : undefined
    await until(isCounted)
  })
  after(() => tenant.shard.stop())

  it('count only when all of them allow the request', async () => {
    await tenant.put(configMaps, configMap('a'))
    assert.deepEqual([usedOf('large'), usedOf('small')], ['1', '1'])
    const { message } = await refusal(tenant.put(configMaps, configMap('b')))
    assert.match(
      message ?? '',
      /exceeded quota: small, requested: count\/configmaps=1, used: count\/configmaps=1/,
    )
    assert.deepEqual([usedOf('large'), usedOf('small')], ['1', '1'])
  })

  it('count nothing in a dry run', async () => {
    const { message } = await refusal(tenant.put(configMaps, configMap('b'), { dryRun: true }))
    assert.match(message ?? '', /exceeded quota: small/)
    assert.deepEqual([usedOf('large'), usedOf('small')], ['1', '1'])
  })
})

describe('a quota of a whole logical cluster', () => {
  let tenant: TestTenant
  const hard = { [counted]: '3', 'count/namespaces': '4' }
  const annotations = { 'experimental.quota.kcp.io/cluster-scoped': 'true' }
  const found = (namespace: string) =>
    tenant.shard.informers.for(resources.resourceQuotas).get('c1', namespace, 'all')?.object as ResourceQuota
  const uses = (namespace: string, name: string, wanted: string) =>
    until(() => (found(namespace)?.status?.used?.[name] === wanted ? true : undefined))
  const quotaIn = (namespace: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'all', namespace, annotations },
    spec: { hard },
  })
  const mapIn = (namespace: string, name: string) => configMap(name, { metadata: { name, namespace } })
  const namespaceNamed = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })
  before(async () => {
    tenant = await testTenant()
    void tenant.shard.run()
    await tenant.put(resources.namespaces, namespaceNamed('admin'))
    await tenant.put(configMaps, configMap('a'))
    await tenant.put(configMaps, mapIn('admin', 'b'))
    for (const namespace of ['admin', 'default'])
      await tenant.put(resources.resourceQuotas, quotaIn(namespace))
  })
  after(() => tenant.shard.stop())

  it('counts the objects of all namespaces and those without one, in the namespace admin only', async () => {
    await uses('admin', counted, '2')
    await uses('admin', 'count/namespaces', '2')
    await uses('default', counted, '1')
    await uses('default', 'count/namespaces', '0')
  })

  it('limits them', async () => {
    await tenant.put(configMaps, configMap('c'))
    for (const namespace of ['default', 'admin']) {
      const { message } = await refusal(tenant.put(configMaps, mapIn(namespace, 'd')))
      assert.match(message ?? '', /exceeded quota: all, .* used: count\/configmaps=3/)
    }
    for (const name of ['one', 'two']) await tenant.put(resources.namespaces, namespaceNamed(name))
    const { message } = await refusal(tenant.put(resources.namespaces, namespaceNamed('three')))
    assert.match(message ?? '', /exceeded quota: all, .* used: count\/namespaces=4/)
  })

  it('recounts when an object is deleted in any namespace, and when the annotation goes', async () => {
    const { client } = tenant.shard
    await client.delete(resources.configMaps, { cluster: 'c1', namespace: 'default', name: 'a' })
    await uses('admin', counted, '2')
    const key = { cluster: 'c1', namespace: 'admin', name: 'all' }
    await client.update(
      resources.resourceQuotas,
      key,
      ({ metadata: { annotations: _, ...rest }, ...object }) => ({
        ...object,
        metadata: rest,
      }),
    )
    await uses('admin', counted, '1')
  })
})

describe('a quota that many creations wait for', () => {
  let tenant: TestTenant
  const place = { cluster: 'c1', namespace: 'default', name: 'shared' }
  const used = (): string | undefined => {
    const found = tenant.shard.informers.for(resources.resourceQuotas).get('c1', 'default', 'shared')?.object
    return (found as ResourceQuota | undefined)?.status?.used?.[counted]
  }

  before(async () => {
    tenant = await testTenant()
    void tenant.shard.run()
    await tenant.shard.client.create(resources.resourceQuotas, place, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'shared', namespace: 'default' },
      spec: { hard: { [counted]: '20' } },
    })
    await until(() => (used() === '0' ? true : undefined))
  })
  after(() => tenant.shard.stop())

  it('is written a few times for all of them, and allows no more than its limit', async () => {
    let writes = 0
    const stop = tenant.shard.informers.for(resources.resourceQuotas).onEvent(() => {
      writes++
    })
    const names = Array.from({ length: 30 }, (_, i) => `many-${i}`)
    const all = await Promise.allSettled(names.map(name => tenant.put(configMaps, configMap(name))))
    stop()
    const refused = all.filter(result => result.status === 'rejected')
    assert.equal(refused.length, 10)
    for (const { reason } of refused)
      assert.match(String(reason), /exceeded quota: shared.*used: count\/configmaps=20/)
    assert.equal(used(), '20')
    assert.ok(writes <= 4, `${writes} writes`)
  })

  it('refuses none because others write the quota at the same time', async () => {
    const { client } = tenant.shard
    const spec = { hard: { [counted]: '100' } }
    await client.update(resources.resourceQuotas, place, quota => ({ ...quota, spec }))
    const limit = (): true | undefined => {
      const found = tenant.shard.informers
        .for(resources.resourceQuotas)
        .get('c1', 'default', 'shared')?.object
      return (found as ResourceQuota).status?.hard?.[counted] === '100' ? true : undefined
    }
    await until(limit)
    const label = (value: number) =>
      client.update(
        resources.resourceQuotas,
        place,
        ({ metadata: { resourceVersion: _, ...metadata }, ...quota }) => ({
          ...quota,
          metadata: { ...metadata, labels: { value: String(value) } },
        }),
      )
    const numbers = Array.from({ length: 20 }, (_, i) => i)
    await Promise.all(numbers.flatMap(i => [label(i), tenant.put(configMaps, configMap(`contended-${i}`))]))
    assert.equal(used(), '40')
  })
})
