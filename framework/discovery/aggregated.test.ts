import assert from 'node:assert/strict'
import { type ApiResource, type ApiSet, apiSetOf } from '../contract/apis.ts'
import type { Document } from '../contract/documents.ts'
import { aggregated } from './aggregated.ts'

const widgets = (count: number): ApiSet =>
  apiSetOf(
    Array.from({ length: count }, (_, i) => {
      const names = { plural: `widgets${i}`, singular: `widget${i}`, kind: `Widget${i}`, listKind: `W${i}` }
      const resource = { group: 'example.com', version: 'v1', names, namespaced: true, custom: true }
      return { ...resource, verbs: ['get', 'list'], subresources: [] } as unknown as ApiResource
    }),
  )

describe('aggregated discovery', () => {
  it('of few resources is made at once, and once', () => {
    const apis = widgets(2)
    const document = aggregated(apis, '/apis', 'v2') as Document
    assert.equal(aggregated(apis, '/apis', 'v2'), document)
    const { items } = JSON.parse(document.bytes.toString())
    assert.deepEqual(items[0].versions[0].resources[1], {
      resource: 'widgets1',
      responseKind: { group: 'example.com', version: 'v1', kind: 'Widget1' },
      scope: 'Namespaced',
      singularResource: 'widget1',
      verbs: ['get', 'list'],
    })
  })

  it('of many resources is made in turns', async () => {
    let turns = 0
    const count = (): void => {
      turns++
      pending = setImmediate(count)
    }
    let pending = setImmediate(count)
    const { bytes } = await aggregated(widgets(50_000), '/apis', 'v2')
    clearImmediate(pending)
    assert.ok(turns > 3, `${turns} turns`)
    assert.equal(JSON.parse(bytes.toString()).items[0].versions[0].resources.length, 50_000)
  })
})
