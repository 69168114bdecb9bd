import assert from 'node:assert/strict'
import { atOnce } from '../framework/json/json.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import { type CompiledSchema, CompiledSchemas, compileCached, schemaCache } from './compile.ts'
import { schemaHash } from './nodes/schemahash.ts'
import { validateSteps } from './validation/schema.ts'

const names = Array.from({ length: 1_000 }, (_, i) => `p${i}`)
const node: JSONSchemaProps = {
  type: 'object',
  properties: { set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } } },
  'x-kubernetes-validations': [{ rule: 'size(self.set) < 3' }],
}
/** A schema of 1,000 properties; each call returns another one. */
const large = (): JSONSchemaProps => ({
  type: 'object',
  properties: Object.fromEntries(names.map(name => [name, { ...node }])),
})

const check =
  (object: object) =>
  ({ check, embedded, prune, rules, uniqueness }: CompiledSchema): void => {
    prune(object)
    atOnce(validateSteps(check, object))
    for (const made of [embedded, uniqueness]) atOnce(made.steps()).value?.(object, () => '', [])
    const evaluated = atOnce(rules.steps()).value?.(object, undefined)
    if (evaluated !== undefined) atOnce(evaluated)
  }

const having = (count: number): object =>
  Object.fromEntries(names.slice(0, count).map(name => [name, { set: ['a'] }]))
const sizeOf = ({ size }: CompiledSchema): number => size.nodes

describe('compiled schemas', () => {
  it('have what objects need', () => {
    const [schemas, schema] = [new CompiledSchemas(100_000), large()]
    schemas.use(schema, check(having(0)))
    const empty = schemas.use(schema, sizeOf)
    schemas.use(schema, check(having(1)))
    const one = schemas.use(schema, sizeOf) - empty
    schemas.use(schema, check(having(100)))
    const hundred = schemas.use(schema, sizeOf) - empty
    assert.ok(one > 0 && hundred > 50 * one && hundred <= 100 * one, `${one} and ${hundred} nodes`)
  })

  it('are kept up to a number of nodes, those first that were used last', () => {
    const schemas = new CompiledSchemas(14_000)
    const [first, second] = [large(), large()]
    const itself = (compiled: CompiledSchema): CompiledSchema => compiled
    const before = schemas.use(first, itself)
    schemas.use(first, check(having(10)))
    assert.equal(schemas.use(first, itself), before)
    schemas.use(second, check(having(1_000)))
    assert.notEqual(schemas.use(first, itself), before)
  })

  it('are compiled for each use when they are larger than all that are kept', () => {
    const [schemas, schema] = [new CompiledSchemas(10), large()]
    schemas.use(schema, check(having(100)))
    assert.ok(schemas.use(schema, sizeOf) < 2_000)
  })

  it('count the characters of their schemas, which they keep alive', () => {
    const schemas = new CompiledSchemas(1_000)
    const described = (): JSONSchemaProps => ({ type: 'object', description: 'x'.repeat(150_000) })
    const [first, second] = [described(), described()]
    for (const schema of [first, second]) schemaHash(schema)
    const itself = (compiled: CompiledSchema): CompiledSchema => compiled
    const before = schemas.use(first, itself)
    assert.equal(schemas.use(first, itself), before)
    schemas.use(second, itself)
    assert.notEqual(schemas.use(first, itself), before)
  })
})

const text: JSONSchemaProps = { type: 'string' }

describe('sharing', () => {
  it('hashes the content, whatever the order of keys', () => {
    const one: JSONSchemaProps = { type: 'object', properties: { a: text, b: text } }
    const same: JSONSchemaProps = { properties: { b: text, a: text }, type: 'object' }
    assert.equal(schemaHash(one), schemaHash(same))
    assert.notEqual(schemaHash(one), schemaHash({ ...one, nullable: true }))
    assert.equal(compileCached(one), compileCached(same))
  })

  it('removes schemas that were not used for long', () => {
    const cached = schemaCache(1)
    const first = cached({ type: 'object' })
    cached({ type: 'object', title: 'other' })
    assert.notEqual(cached({ type: 'object' }), first)
  })

  it('removes schemas when those that were used later have too many characters', () => {
    const cached = schemaCache(10, 1_000)
    const titled = (letter: string): JSONSchemaProps => ({ type: 'object', title: letter.repeat(400) })
    const first = cached(titled('a'))
    assert.equal(cached(titled('a')), first)
    cached(titled('b'))
    assert.equal(cached(titled('a')), first)
    cached(titled('c'))
    cached(titled('d'))
    assert.notEqual(cached(titled('a')), first)
  })
})
