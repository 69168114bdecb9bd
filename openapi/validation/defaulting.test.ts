import assert from 'node:assert/strict'
import { atOnce } from '../../framework/json/json.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { compileSchema } from '../compile.ts'
import { checkStructural } from '../structural/structural.ts'

const keys = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))

/** Each item of `spec.l` gets a default with many values. */
const schemaWith = (fallback: unknown): JSONSchemaProps => {
  const filled: JSONSchemaProps = {
    type: 'object',
    default: fallback,
    'x-kubernetes-preserve-unknown-fields': true,
  }
  const items: JSONSchemaProps = { type: 'object', properties: { m: filled } }
  const spec: JSONSchemaProps = { type: 'object', properties: { l: { type: 'array', items } } }
  return { type: 'object', properties: { spec } }
}

const objectWith = (items: number): KubeObject =>
  ({
    apiVersion: 'e.io/v1',
    kind: 'Widget',
    metadata: { name: 'a' },
    spec: { l: Array.from({ length: items }, () => ({})) },
  }) as KubeObject

const itemsOf = ({ spec }: KubeObject) =>
  (spec as { readonly l: readonly { readonly m?: unknown }[] }).l.map(({ m }) => m !== undefined)

describe('the limit of defaults in one object', () => {
  it('refuses a small body that would become a large object, and names the field', () => {
    const schema = compileSchema(schemaWith(keys(20_000)))
    assert.throws(
      () => schema.decode(objectWith(800)),
      (error: unknown) => {
        assert.ok(error instanceof StatusError)
        assert.equal(error.code, 413)
        assert.match(error.message, /defaults.* more than 100000 values.*: spec\.l\[\d+\]\.m/)
        return true
      },
    )
  })

  it('counts the bytes of long texts', () => {
    const schema = compileSchema(schemaWith({ text: 'x'.repeat(200_000) }))
    assert.throws(() => schema.decode(objectWith(10)), /more than 1048576 bytes/)
  })

  it('counts the default of null items', () => {
    const items: JSONSchemaProps = {
      type: 'object',
      default: keys(20_000),
      'x-kubernetes-preserve-unknown-fields': true,
    }
    const spec: JSONSchemaProps = { type: 'object', properties: { l: { type: 'array', items } } }
    const object = { ...objectWith(0), spec: { l: Array.from({ length: 800 }, () => null) } }
    assert.throws(
      () => compileSchema({ type: 'object', properties: { spec } }).decode(object),
      /spec\.l\[\d+\]/,
    )
  })

  it('leaves out the rest of the defaults of a stored object, which stays readable', () => {
    const schema = compileSchema(schemaWith(keys(20_000)))
    const filled = itemsOf(schema.decode(objectWith(800), { stored: true }).object)
    assert.equal(filled.length, 800)
    assert.deepEqual(filled.slice(0, 6), [true, true, true, true, false, false])
    assert.ok(filled.slice(4).every(isFilled => !isFilled))
  })

  it('does not count defaults of fields that are set', () => {
    const schema = compileSchema(schemaWith(keys(20_000)))
    const l = Array.from({ length: 800 }, () => ({ m: {} }))
    assert.deepEqual(schema.decode({ ...objectWith(0), spec: { l } }).object.spec, { l })
  })

  const levels = (depth: number): JSONSchemaProps => {
    const m: JSONSchemaProps =
      depth === 0
        ? { type: 'string', default: 'x' }
        : { type: 'array', items: levels(depth - 1), default: Array.from({ length: 50 }, () => ({})) }
    return { type: 'object', properties: { m } }
  }

  it('refuses a schema whose defaults contain each other many times', () => {
    const errors = atOnce(checkStructural(levels(4), 'schema'))
    assert.equal(errors.length, 1)
    assert.match(errors[0]?.field ?? '', /^schema\.properties\[m\]/)
    assert.match(errors[0]?.detail ?? '', /must not add more than 100000 values/)
    assert.deepEqual(atOnce(checkStructural(levels(2), 'schema')), [])
  })

  it('refuses a schema with a default that no object may have', () => {
    const [error, ...others] = atOnce(checkStructural(schemaWith(keys(100_001)), 'schema'))
    assert.deepEqual(others, [])
    assert.match(error?.field ?? '', /\[m\]\.default$/)
  })

  it('compiles such a schema from an earlier version of the server without all of its defaults', () => {
    const schema = compileSchema({ type: 'object', properties: { spec: levels(8) } })
    const text = JSON.stringify(schema.decode({ ...objectWith(0), spec: {} }, { stored: true }).object)
    assert.ok(text.length < 2 ** 20, `${text.length} bytes`)
  })
})
