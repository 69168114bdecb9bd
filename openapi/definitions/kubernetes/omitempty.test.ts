import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { omittingEmpty } from './kind.ts'

const texts: JSONSchemaProps = { type: 'array', items: { type: 'string' } }
const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    list: texts,
    always: { ...texts, nullable: true },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    struct: { type: 'object', properties: { list: texts } },
    structs: { type: 'array', items: { type: 'object', properties: { list: texts } } },
  },
}

const object = (fields: object): KubeObject => ({ apiVersion: 'v1', kind: 'K', metadata: {}, ...fields })

describe('built-in kinds leave out', () => {
  const cases: readonly (readonly [what: string, given: object, kept: object])[] = [
    ['empty lists', { list: [] }, {}],
    ['empty maps', { map: {} }, {}],
    ['what is empty in structs, not the structs', { struct: { list: [] } }, { struct: {} }],
    ['what is empty in items, not the items', { structs: [{ list: [] }, {}] }, { structs: [{}, {}] }],
    ['no list that is always written', { always: [] }, { always: [] }],
    ['nothing of another type', { list: {}, map: [] }, { list: {}, map: [] }],
  ]
  for (const [what, given, kept] of cases)
    it(what, () => assert.deepEqual(omittingEmpty(schema)(object(given)), object(kept)))

  it('nothing, and give the same object back, where nothing is empty', () => {
    const full = object({ list: ['a'], map: { a: 'b' }, struct: {}, always: [] })
    assert.equal(omittingEmpty(schema)(full), full)
  })
})
