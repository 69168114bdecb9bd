import assert from 'node:assert/strict'
import type { ResourceRequest } from '../request/requestinfo.ts'
import { createMetrics, type Metrics } from './metrics.ts'

const request = (verb: 'list' | 'get', resource: string): ResourceRequest =>
  ({ verb, group: '', version: 'v1', resource, subresource: '', namespace: '', name: '' }) as ResourceRequest

function answer(metrics: Metrics, asked: ResourceRequest, code: number): void {
  const measured = metrics.begin('GET')
  measured.serves(asked)
  measured.end(code)
}

const cacheLists = async (metrics: Metrics): Promise<readonly string[]> =>
  (await metrics.text()).body.split('\n').filter(line => line.startsWith('apiserver_cache_list_total'))

describe('metrics', () => {
  it('count the lists that were answered from the watch cache, by resource', async () => {
    const metrics = createMetrics({ cachedLists: true })
    for (const code of [200, 200, 403]) answer(metrics, request('list', 'secrets'), code)
    answer(metrics, request('list', 'configmaps'), 200)
    answer(metrics, request('get', 'secrets'), 200)
    assert.deepEqual(await cacheLists(metrics), [
      'apiserver_cache_list_total{group="",index="",resource="secrets"} 2',
      'apiserver_cache_list_total{group="",index="",resource="configmaps"} 1',
    ])
  })

  it('count no such lists where another server has them', async () => {
    const metrics = createMetrics()
    answer(metrics, request('list', 'secrets'), 200)
    assert.deepEqual(await cacheLists(metrics), [])
  })
})
