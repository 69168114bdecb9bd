import assert from 'node:assert/strict'
import { atOnce } from '../framework/json/json.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import { type CompiledSchema, CompiledSchemas } from './compile.ts'
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
    const schemas = new CompiledSchemas(13_000)
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
})
