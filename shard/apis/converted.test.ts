import assert from 'node:assert/strict'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import type { ItemList } from '../../framework/contract/storage.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import type { ConvertObjects } from '../conversion/webhook.ts'
import { webhookConversion } from './converted.ts'
import { newConvertedItems } from './converteditems.ts'
import { convertedList } from './convertedreads.ts'
import type { ServedDefinition } from './served.ts'

const version = (name: string) => ({
  name,
  served: true,
  storage: name === 'v1',
  columns: [],
  status: false,
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
    const { present } = webhookConversion(served, (objects, apiVersion, use) =>
      use(objects.map(({ metadata }) => thing(metadata.name ?? '', apiVersion, 20_000))),
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
    const { present } = webhookConversion(served, (objects, apiVersion, use) => {
      asked += objects.length
      return use(objects.map(object => ({ ...object, apiVersion })))
    })
    const items = [itemOf(thing('a', 'example.com/v1', 1), 'c'), itemOf(thing('b', 'example.com/v2', 1), 'c')]
    const [one, other] = await Promise.all([present(items, 'v2'), present(items, 'v2')])
    assert.equal(asked, 1)
    assert.equal(one[0], other[0])
    assert.equal(one[1], items[1])
  })

  for (const [how, fields] of [
    ['with them', 1],
    ['before them', 100_000],
  ] as const) {
    it(`fails for the items that a reader wants, not for those that another reader converts ${how}`, async () => {
      let answer = (): void => {}
      const answered = new Promise<void>(resolve => {
        answer = resolve
      })
      const convert: ConvertObjects = async (objects, apiVersion, use) => {
        await answered
        const broken = objects.find(({ metadata }) => metadata.name === 'broken')
        if (broken !== undefined) throw new Error(`cannot convert ${broken.metadata.name}`)
        return use(objects.map(object => ({ ...object, apiVersion })))
      }
      const { present } = webhookConversion(served, convert)
      const [own, other] = [
        itemOf(thing('own', 'example.com/v1', 1), 'red'),
        itemOf(thing('broken', 'example.com/v1', fields), 'red'),
      ]
      const all = assert.rejects(present([other, own], 'v2'), /broken/)
      const shown = present([own], 'v2')
      answer()
      assert.deepEqual(
        (await shown).map(({ object }) => object.apiVersion),
        ['example.com/v2'],
      )
      await all
    })

    it(`of items of one logical cluster does not wait for those of others that a reader converts ${how}`, async () => {
      let answer = (): void => {}
      const answered = new Promise<void>(resolve => {
        answer = resolve
      })
      const convert: ConvertObjects = async (objects, apiVersion, use) => {
        if (objects.some(({ metadata }) => metadata.name === 'slow')) await answered
        return use(objects.map(object => ({ ...object, apiVersion })))
      }
      const { present } = webhookConversion(served, convert)
      const own = itemOf(thing('own', 'example.com/v1', 1), 'red')
      const all = present([itemOf(thing('slow', 'example.com/v1', fields), 'blue'), own], 'v2')
      const [shown] = await present([own], 'v2')
      assert.equal(shown?.object.apiVersion, 'example.com/v2')
      answer()
      assert.equal((await all).length, 2)
    })
  }

  it('that fails is asked for once for all readers of the same items', async () => {
    let asked = 0
    const convert: ConvertObjects = async () => {
      asked++
      throw new Error('broken')
    }
    const { present } = webhookConversion(served, convert)
    const items = ['a', 'b'].map(name => itemOf(thing(name, 'example.com/v1', 1), 'red'))
    const more = itemOf(thing('c', 'example.com/v1', 1), 'red')
    const readers = [items, items, items, [...items, more]]
    await Promise.all(readers.map(wanted => assert.rejects(present(wanted, 'v2'), /broken/)))
    assert.equal(asked, 2)
  })

  it('keeps what is not too large together, and converts the rest again', async () => {
    const asked: number[] = []
    const convert: ConvertObjects = (objects, apiVersion, use) => {
      asked.push(objects.length)
      return use(objects.map(object => ({ ...object, apiVersion })))
    }
    const { present } = webhookConversion(served, convert, newConvertedItems(100_000))
    const items = Array.from({ length: 100 }, (_, i) => itemOf(thing(`t${i}`, 'example.com/v1', 100), 'c'))
    await present(items.slice(0, 10), 'v2')
    await present(items.slice(0, 10), 'v2')
    assert.deepEqual(asked, [10])
    for (let i = 10; i < 100; i += 10) await present(items.slice(i, i + 10), 'v2')
    await present(items.slice(0, 10), 'v2')
    assert.deepEqual(asked, Array(11).fill(10))
  })

  it('of a list converts about a megabyte at a time, and all of it before it shows the first object', async () => {
    const asked: number[] = []
    const convert: ConvertObjects = (objects, apiVersion, use) => {
      asked.push(objects.length)
      if (objects.some(({ metadata }) => metadata.name === 'broken')) throw new Error('not this one')
      return use(objects.map(object => ({ ...object, apiVersion })))
    }
    const { present } = webhookConversion(served, convert, newConvertedItems(100_000))
    const { signal } = new AbortController()
    const listOf = (items: readonly Item[]) =>
      convertedList(listing(items), each => present(each, 'v2'), signal)
    const items = Array.from({ length: 600 }, (_, i) => itemOf(thing(`t${i}`, 'example.com/v1', 1_000), 'c'))
    const shown: Item[] = []
    for await (const batch of listOf(items)) shown.push(...batch)
    assert.deepEqual(
      shown.map(({ key, object }) => [key.name, object.apiVersion]),
      items.map(({ key }) => [key.name, 'example.com/v2']),
    )
    assert.ok(asked.length > 10 && asked.every(count => count < 100), `${asked}`)
    const broken = itemOf(thing('broken', 'example.com/v1', 1), 'c')
    await assert.rejects(async () => (await listOf([...items, broken]).next()).value, /not this one/)
  })
})

async function* listing(items: readonly Item[]): ItemList {
  yield items
  return { resourceVersion: '1' }
}
