import assert from 'node:assert/strict'
import { itemOf } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { webhookConversion } from './converted.ts'
import type { ServedDefinition } from './served.ts'

const version = (name: string) => ({
  ...{ name, served: true, storage: name === 'v1', columns: [], status: false },
  schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
})
const served = {
  definition: {
    group: 'example.com',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    namespaced: false,
    versions: [version('v1'), version('v2')],
  },
} as unknown as ServedDefinition

const thing = (name: string, apiVersion: string, fields: number): KubeObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name },
  spec: Object.fromEntries(Array.from({ length: fields }, (_, i) => [`k${i}`, { i: '' }])),
})

describe('conversion by a webhook', () => {
  it('of large objects gives other requests their turns', async () => {
    const items = Array.from({ length: 16 }, (_, i) => itemOf(thing(`t${i}`, 'example.com/v1', 1), 'c'))
    const { present } = webhookConversion(served, async (objects, apiVersion) =>
      objects.map(({ metadata }) => thing(metadata.name ?? '', apiVersion, 20_000)),
    )
    let turns = 0
    let isOver = false
    const next = (): void => {
      if (isOver) return
      turns++
      setImmediate(next)
    }
    setImmediate(next)
    const shown = await present(items, 'v2').finally(() => {
      isOver = true
    })
    assert.deepEqual(
      shown.map(({ object }) => object.apiVersion),
      Array(16).fill('example.com/v2'),
    )
    assert.ok(turns >= 4, `${turns} turns`)
  })

  it('asks once for items that several readers want', async () => {
    let asked = 0
    const { present } = webhookConversion(served, async (objects, apiVersion) => {
      asked += objects.length
      return objects.map(object => ({ ...object, apiVersion }))
    })
    const items = [itemOf(thing('a', 'example.com/v1', 1), 'c'), itemOf(thing('b', 'example.com/v2', 1), 'c')]
    const [one, other] = await Promise.all([present(items, 'v2'), present(items, 'v2')])
    assert.equal(asked, 1)
    assert.equal(one[0], other[0])
    assert.equal(one[1], items[1])
  })
})
