import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Served } from '../../framework/contract/apis.ts'
import { type Item, itemOf, relabeledItem } from '../../framework/contract/item.ts'
import type { Metadata } from '../../framework/meta/object.ts'
import { listForm } from '../../framework/responses/forms.ts'
import { columnsOf } from '../../openapi/columns.ts'
import { sentItem } from './item.ts'

const none = new URLSearchParams()
const served = {
  group: 'example.com',
  version: 'v1',
  kind: 'Blob',
  resource: { custom: true, names: { listKind: 'BlobList' }, columns: columnsOf() },
} as unknown as Served

const written = (item: Item, kind: 'PartialObjectMetadataList' | 'Table'): string => {
  const how = { format: 'json', pretty: false, transform: { kind, version: 'v1' } } as const
  return String(listForm(served, how, none).element?.(item))
}

/** An object of a shard whose other members cannot be decoded. */
const undecodable = (metadata: Metadata): Item => {
  const head = JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Blob', metadata }).slice(0, -1)
  return sentItem(Buffer.from(`${head},"spec":{"a":}}`), 'one')
}

const metadata = fc.record(
  {
    name: fc.string(),
    labels: fc.dictionary(fc.string(), fc.string()),
    annotations: fc.dictionary(fc.string(), fc.string()),
    resourceVersion: fc.nat().map(String),
    uid: fc.uuid(),
    deletionGracePeriodSeconds: fc.nat(),
  },
  { requiredKeys: ['name'] },
)

describe('an object of a shard', () => {
  for (const kind of ['PartialObjectMetadataList', 'Table'] as const) {
    it(`is written in a ${kind} like any other, and only its metadata is decoded`, () => {
      fc.assert(
        fc.property(metadata, metadata => {
          const whole = itemOf({ apiVersion: 'example.com/v1', kind: 'Blob', metadata }, 'one')
          assert.equal(written(undecodable(metadata), kind), written(whole, kind))
        }),
        { numRuns: 200 },
      )
    })

    it(`with other annotations is written in a ${kind} from its metadata, too`, () => {
      const item = relabeledItem(undecodable({ name: 'a', labels: { b: 'c' } }), { annotations: { d: 'e' } })
      assert.match(
        written(item, kind),
        /"metadata":\{"annotations":\{"d":"e"\},"labels":\{"b":"c"\},"name":"a"\}/,
      )
    })
  }

  it('keeps integers of its metadata that are larger than those of JavaScript', () => {
    const metadata = '{"name":"a","deletionGracePeriodSeconds":9007199254740993}'
    const item = sentItem(Buffer.from(`{"apiVersion":"v1","kind":"A","metadata":${metadata}}`), 'one')
    assert.match(written(item, 'PartialObjectMetadataList'), /:9007199254740993/)
  })
})
