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

  it('count the requests, watches, events and bytes of each view', async () => {
    const metrics = createMetrics()
    const begun = (verb: 'list' | 'watch') => {
      const measured = metrics.begin('GET')
      measured.through('team')
      measured.serves({ ...request('list', 'configmaps'), verb } as ResourceRequest)
      return measured
    }
    const list = begun('list')
    list.sentWhole(100)
    list.end(200)
    const refused = metrics.begin('GET')
    refused.through('team')
    refused.end(403)
    const [open, closed] = [begun('watch'), begun('watch')]
    for (const measured of [open, closed]) measured.sent(Buffer.from('{}\n{}\n'))
    closed.end(200)
    const lines = (await metrics.text()).body.split('\n').filter(line => line.startsWith('oriel_view_'))
    assert.deepEqual(
      lines.filter(line => !line.startsWith('oriel_view_request_seconds_total')),
      [
        'oriel_view_requests_total{view="team",code="200"} 2',
        'oriel_view_requests_total{view="team",code="403"} 1',
        'oriel_view_watches{view="team"} 1',
        'oriel_view_watch_events_total{view="team"} 4',
        'oriel_view_sent_bytes_total{view="team"} 112',
      ],
    )
    open.end(200)
  })
})
