import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { fieldErrorBody } from '../../framework/meta/errors.ts'
import { checkStructural } from './structural.ts'

const texts = (schema: unknown): readonly string[] =>
  atOnce(checkStructural(schema, 's')).map(error => `${error.field}: ${fieldErrorBody(error)}`)

const string = { type: 'string' }

describe('checkStructural at the root', () => {
  it('checks the root', () => {
    assert.deepEqual(texts({}), ['s.type: Required value: must not be empty at the root'])
    assert.deepEqual(texts({ type: 'string' }), [
      's.type: Invalid value: "string": must be object at the root',
    ])
    assert.deepEqual(texts({ type: 'object', additionalProperties: string }), [
      's.additionalProperties: Forbidden: must not be used at the root',
    ])
    assert.deepEqual(texts({ type: 'object', nullable: true }), [
      's.nullable: Forbidden: nullable cannot be true at the root',
    ])
  })

  it('requires constrained fields of the root to be specified', () => {
    const root = {
      type: 'object',
      properties: { a: { type: 'object', properties: { c: { type: 'array', items: string } } } },
      anyOf: [
        { properties: { b: {} } },
        { properties: { a: { properties: { c: { items: {} }, d: { items: {} } } } } },
      ],
    }
    assert.deepEqual(texts(root), [
      's.properties[a].properties[d]: Required value: because it is defined in s.anyOf[1].properties[a].properties[d]',
      's.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]',
    ])
  })

  it('lets the root restrict names only', () => {
    const withMetadata = (metadata: object): readonly string[] =>
      texts({ type: 'object', properties: { metadata } })
    const name = { type: 'string', maxLength: 8 }
    assert.deepEqual(withMetadata({ type: 'object', properties: { name, generateName: name } }), [])
    assert.deepEqual(withMetadata({ type: 'object', properties: { labels: { type: 'object' } } }), [
      's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ])
    assert.deepEqual(withMetadata({ type: 'object', properties: { name: { ...name, default: 'x' } } }), [
      's.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
    ])
    assert.deepEqual(texts({ type: 'object', properties: { kind: { type: 'integer' } } }), [
      's.properties[kind].type: Invalid value: "integer": must be string',
    ])
  })
})
