import assert from 'node:assert/strict'
import fc from 'fast-check'
import { bodyOf, widget } from '../../test/support/widgets.ts'
import { type Item, itemOf } from '../contract/item.ts'
import type { ItemBatch, ItemList } from '../contract/storage.ts'
import { parseYaml } from '../wire/yaml.ts'
import { listAnswer } from './answers.ts'
import { encodeValue } from './documentanswer.ts'

const pretty = { format: 'json', pretty: true } as const
const yaml = { format: 'yaml', pretty: false } as const
const form = { head: '{"kind":"WidgetList","apiVersion":"example.com/v1","items":[' }
const meta = { resourceVersion: '7', continue: 'c' }

async function* listOf(batches: readonly ItemBatch[]): ItemList {
  yield* batches
  return meta
}
const objectsOf = (batches: readonly (readonly Item[])[]): readonly unknown[] =>
  batches.flat().map(item => JSON.parse(item.bytes.toString()))

describe('lists for people', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\r', '\t', '\u2028', '-', ':', '#', '|', '"') }),
  )
  const item = text.map(value => itemOf(widget('w', { text: value, z: value }), 'one'))
  const batches = fc.array(fc.array(item, { maxLength: 4 }), { maxLength: 4 })

  for (const [name, how] of Object.entries({ pretty, yaml })) {
    it(`equal the text of the whole list: ${name}`, () =>
      fc.assert(
        fc.asyncProperty(batches, async items => {
          const whole = { kind: 'WidgetList', apiVersion: 'example.com/v1', items: objectsOf(items) }
          const answer = await listAnswer(listOf(items), form, how)
          assert.equal(await bodyOf(answer), encodeValue({ ...whole, metadata: meta }, how).toString())
        }),
      ))
  }

  it('may be tables', async () => {
    const head = '{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[],"rows":['
    const element = () => Buffer.from('{"cells":["a",1]}')
    const items = [[itemOf(widget('a'), 'one')]]
    const answer = await listAnswer(listOf(items), { head, element }, yaml)
    assert.deepEqual(parseYaml(await bodyOf(answer)).value, {
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      columnDefinitions: [],
      rows: [{ cells: ['a', 1] }],
      metadata: meta,
    })
  })

  it('are sent while the list is read, and stop when the client does not read', async () => {
    let read = 0
    let isOpen = true
    async function* endless(): ItemList {
      try {
        for (;;) {
          read++
          yield [itemOf(widget('a', { text: 'x'.repeat(70_000) }), 'one')]
        }
      } finally {
        isOpen = false
      }
    }
    const { body } = await listAnswer(endless(), form, yaml)
    assert.ok(!Buffer.isBuffer(body))
    const chunks = body[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await chunks.next()
    assert.ok(read < 8, `${read} batches were read for three chunks`)
    await chunks.return?.()
    assert.equal(isOpen, false)
  })
})
