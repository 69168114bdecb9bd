import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { until } from '../../testing/shard.ts'
import { configMap, configMaps, refusal, type TestTenant, testTenant } from '../../testing/tenant.ts'
import type { ResourceQuota } from './resourcequota.ts'

const counted = 'count/configmaps'

describe('several quotas of a namespace', () => {
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
        spec: { hard: { [counted]: hard } },
      }
      await tenant.shard.client.create(resources.resourceQuotas, place(name), quota)
    }
    const isCounted = (): true | undefined =>
      usedOf('large') === '0' && usedOf('small') === '0' ? true : undefined
    await until(isCounted)
  })
  after(() => tenant.shard.stop())

  it('have all to agree before any counts', async () => {
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
