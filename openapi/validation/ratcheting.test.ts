import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { compileSchema } from '../compile.ts'
import { named, objectOf, schemaOf, string, text } from './testing/errors.ts'

describe('ratcheting', () => {
  const short: JSONSchemaProps = { type: 'string', maxLength: 1 }
  const validate = (a: JSONSchemaProps, value: unknown, old: unknown): readonly string[] =>
    compileSchema(schemaOf(a))
      .validate({ ...objectOf(value), x: 1 }, objectOf(old))
      .map(text)

  it('ignores errors of unchanged values', () => {
    assert.deepEqual(validate(short, 'long', 'long'), [])
    assert.deepEqual(validate(short, 'longer', 'long'), ['spec.a: Too long: may not be more than 1 byte'])
  })

  it('correlates fields and keys', () => {
    const map: JSONSchemaProps = { type: 'object', additionalProperties: short }
    assert.deepEqual(validate(map, { x: 'long', y: 'long' }, { x: 'long' }), [
      'spec.a.y: Too long: may not be more than 1 byte',
    ])
  })

  it('correlates lists of type map by their keys, wherever the item is now', () => {
    const list: JSONSchemaProps = {
      ...named,
      items: { type: 'object', properties: { name: string, size: { type: 'integer', maximum: 1 } } },
    }
    const old = [
      { name: 'a', size: 5 },
      { name: 'b', size: 5 },
    ]
    assert.deepEqual(
      validate(
        list,
        [
          { name: 'b', size: 5 },
          { name: 'a', size: 6 },
        ],
        old,
      ),
      ['spec.a[1].size: Invalid value: 6: spec.a[1].size in body should be less than or equal to 1'],
    )
  })

  it('compares other lists as a whole', () => {
    const list: JSONSchemaProps = { type: 'array', items: short }
    assert.deepEqual(validate(list, ['long'], ['long']), [])
    assert.equal(validate(list, ['long', 'x'], ['long']).length, 1)
  })

  it('keeps errors of the node itself when something below it changed', () => {
    const object: JSONSchemaProps = { type: 'object', properties: { b: string }, required: ['c'] }
    assert.deepEqual(validate(object, { b: 'y' }, { b: 'x' }), ['spec.a.c: Required value'])
    assert.deepEqual(validate(object, { b: 'x' }, { b: 'x' }), [])
  })

  it('tolerates duplicates only when there were some before', () => {
    assert.deepEqual(
      validate(named, [{ name: 'a' }, { name: 'a' }, { name: 'a' }], [{ name: 'b' }, { name: 'b' }]),
      [],
    )
    assert.equal(validate(named, [{ name: 'a' }, { name: 'a' }], [{ name: 'a' }]).length, 1)
  })

  it('never forgives apiVersion and kind', () => {
    const schema: JSONSchemaProps = { type: 'object', properties: { kind: { type: 'string', enum: ['X'] } } }
    const object = objectOf(1)
    assert.deepEqual(
      compileSchema(schema)
        .validate({ ...object, y: 1 }, object)
        .map(text),
      ['kind: Unsupported value: "W": supported values: "X"'],
    )
  })
})
