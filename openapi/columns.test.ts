import assert from 'node:assert/strict'
import type { ResourceStorage } from '../framework/contract/storage.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { columnsOf, selectableFieldsOf } from './columns.ts'
import type { PrinterColumn } from './definitions/definition.ts'
import { apiResourcesOf } from './resource.ts'

const now = new Date('2026-01-02T00:00:00Z')
const object: KubeObject = {
  apiVersion: 'e.io/v1',
  kind: 'W',
  metadata: { name: 'a', creationTimestamp: '2026-01-01T23:50:00Z' },
  spec: {
    text: 'x',
    int: 7,
    float: 7.9,
    large: 1e21,
    big: 9007199254740993n,
    bool: true,
    null: null,
    object: { b: 1, a: '<&>' },
    list: [1, 'two'],
    odd: 'yesterday',
  },
}

const noKind = {
  group: 'e.io',
  names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList', shortNames: [], categories: [] },
  namespaced: true,
}

const cell = (type: PrinterColumn['type'], jsonPath: string): unknown =>
  columnsOf([{ name: 'N', type, jsonPath }])[0]?.cell(object, now)

describe('columns', () => {
  it('are Age when the definition has none', () => {
    const [age, ...rest] = columnsOf()
    assert.deepEqual(rest, [])
    assert.deepEqual([age?.name, age?.type, age?.format, age?.priority], ['Age', 'date', '', 0])
    assert.match(age?.description ?? '', /^CreationTimestamp is a timestamp/)
    assert.equal(age?.cell(object, now), '10m')
  })

  it('have all properties', () => {
    const [plain, full] = columnsOf([
      { name: 'P', type: 'string', jsonPath: '.spec.text' },
      { name: 'F', type: 'integer', jsonPath: '.spec.int', format: 'int32', description: 'd', priority: 1 },
    ])
    const { cell: _, ...properties } = plain ?? assert.fail()
    assert.deepEqual(properties, {
      name: 'P',
      type: 'string',
      format: '',
      description: 'Custom resource definition column (in JSONPath format): .spec.text',
      priority: 0,
    })
    assert.deepEqual([full?.format, full?.description, full?.priority], ['int32', 'd', 1])
  })

  const cells: readonly (readonly [PrinterColumn['type'], path: string, cell: unknown])[] = [
    ['string', '.spec.text', 'x'],
    ['string', '.spec.int', '7'],
    ['string', '.spec.large', '1e+21'],
    ['string', '.spec.big', '9007199254740993'],
    ['string', '.spec.bool', 'true'],
    ['string', '.spec.object', '{"a":"\\u003c\\u0026\\u003e","b":1}'],
    ['string', '.spec.list', '[1,"two"]'],
    ['string', '.spec.list[*]', '1'],
    ['string', '.spec.missing', null],
    ['string', '.spec.list[9]', null],
    ['string', '.spec[', null],
    ['integer', '.spec.int', 7],
    ['integer', '.spec.float', 7],
    ['integer', '.spec.text', null],
    ['number', '.spec.float', 7.9],
    ['number', '.spec.bool', null],
    ['boolean', '.spec.bool', true],
    ['boolean', '.spec.text', null],
    ['date', '.metadata.creationTimestamp', '10m'],
    ['date', '.spec.odd', '<invalid>'],
    ['date', '.spec.int', null],
    ['date', '.metadata.deletionTimestamp', null],
  ]
  for (const [type, path, expected] of cells)
    it(`${type} of ${path} is ${JSON.stringify(expected)}`, () => assert.equal(cell(type, path), expected))
})

describe('selectable fields', () => {
  it('are empty when their JSON paths read too much of an object', () => {
    const column: PrinterColumn = { name: 'N', type: 'integer', jsonPath: '.spec.list[*]' }
    const columns = columnsOf(Array.from({ length: 200 }, () => column))
    const row = (): unknown[] => {
      const listed = { ...object, spec: { list: Array(1_000).fill(7) } }
      return columns.map(each => each.cell(listed, now))
    }
    assert.deepEqual([row().at(0), row().at(-1)], [7, null])
    assert.deepEqual(row(), row(), 'each row by itself')
  })

  it('are empty when the texts of their row are long: each of many may have the whole object', () => {
    const values = { list: Array.from({ length: 1_000 }, (_, i) => `item-${i}`), text: 'x'.repeat(10_000) }
    const long = { ...object, spec: values }
    for (const name of ['list', 'text'] as const) {
      const column: PrinterColumn = { name: 'N', type: 'string', jsonPath: `.spec.${name}` }
      const cells = columnsOf(Array(2_000).fill(column)).map(each => each.cell(long, now))
      const [first] = cells
      assert.equal(first, name === 'list' ? JSON.stringify(values.list) : values.text)
      const shown = cells.filter(each => each !== null)
      assert.ok(shown.length > 5 && shown.length < 20, `${shown.length} cells`)
      assert.deepEqual(cells.slice(shown.length), Array(2_000 - shown.length).fill(null))
    }
  })

  it('do not read an object whose texts are too long for each column', () => {
    let reads = 0
    const map = new Proxy(
      Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 'x'.repeat(1_000)])),
      {
        ownKeys(target) {
          reads++
          return Reflect.ownKeys(target)
        },
      },
    )
    const columns = columnsOf(Array(2_000).fill({ name: 'N', type: 'string', jsonPath: '.spec.map' }))
    const large = { ...object, spec: { map } }
    const cells = columns.map(each => each.cell(large, now))
    assert.deepEqual(cells, Array(2_000).fill(null))
    assert.ok(reads < 10, `${reads} times`)
  })

  it('of a resource have one limit for a row', () => {
    const columns: readonly PrinterColumn[] = Array(2_000).fill({
      name: 'N',
      type: 'string',
      jsonPath: '.spec.text',
    })
    const kind = {
      ...noKind,
      versions: [{ name: 'v1', served: true, storage: true, status: false, schema: {}, columns }],
    }
    const [resource] = apiResourcesOf(kind, { custom: true, storage: () => ({}) as ResourceStorage })
    const long = { ...object, spec: { text: 'x'.repeat(10_000) } }
    const cells = resource?.columns?.map(each => each.cell(long, now)) ?? []
    assert.equal(cells.length, 2_000)
    assert.ok(cells.filter(each => each !== null).length < 20)
  })

  it('read scalars as text', () => {
    const fields = selectableFieldsOf([
      { jsonPath: '.spec.text' },
      { jsonPath: '.spec.bool' },
      { jsonPath: '.spec.none' },
    ])
    assert.deepEqual(
      Object.entries(fields).map(([name, read]) => [name, read(object)]),
      [
        ['spec.text', 'x'],
        ['spec.bool', 'true'],
        ['spec.none', ''],
      ],
    )
  })
})
