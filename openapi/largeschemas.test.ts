import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import { compileSchema, schemaCache } from './compile.ts'
import { schemaHash } from './nodes/schemahash.ts'

const names = Array.from({ length: 3_000 }, (_, i) => `p${i}`)
const schemaOf = (keys: readonly string[], property: (name: string) => JSONSchemaProps): JSONSchemaProps => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: Object.fromEntries(keys.map(k => [k, property(k)])) } },
})
const text = (): JSONSchemaProps => ({ type: 'string' })
const object = (spec: object) => ({ apiVersion: 'v1', kind: 'Large', metadata: { name: 'a' }, spec })

function run(work: Generator<unknown, readonly unknown[]>): {
  readonly steps: number
  readonly errors: readonly unknown[]
} {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { steps, errors: value }
  }
}

describe('a large schema', () => {
  it('is compiled in steps when an object is first validated', () => {
    const schema = compileSchema(schemaOf(names, text))
    assert.ok(run(schema.validateSteps(object({ p1: 'x' }))).steps > 10)
    assert.ok(run(schema.validateSteps(object({ p1: 'x' }))).steps < 3)
  })

  it('compiles a rule in a step and evaluates it in another, of the fields that an object has', () => {
    const rule = { rule: 'self != "a"' }
    const schema = schemaOf(names.slice(0, 300), () => ({ ...text(), 'x-kubernetes-validations': [rule] }))
    const { validateSteps } = compileSchema(schema)
    const spec = Object.fromEntries(names.slice(0, 200).map((name, i) => [name, i === 7 ? 'a' : 'x']))
    const { steps, errors } = run(validateSteps(object(spec)))
    assert.ok(steps >= 400 && steps < 500, `${steps} steps`)
    assert.equal(errors.length, 1)
  })

  it('is hashed between the turns of other requests before its first use, and then shared', async () => {
    const cached = schemaCache(10)
    const [one, same] = [cached(schemaOf(names, text)), cached(schemaOf([...names].reverse(), text))]
    assert.notEqual(one, same)
    const preparing = one.prepare?.()
    assert.ok(preparing instanceof Promise)
    assert.equal(one.prepare?.(), preparing, 'once for all requests')
    await Promise.all([preparing, same.prepare?.()])
    for (const schema of [one, same]) {
      assert.equal(schema.prepare?.(), undefined)
      assert.deepEqual(schema.decode(object({ p1: 'x', other: 1 })).unknown, ['spec.other'])
    }
    assert.ok(run(one.validateSteps(object({ p1: 'x' }))).steps > 10)
    assert.ok(run(same.validateSteps(object({ p1: 'x' }))).steps < 3, 'compiled for both')
  })

  it('has the hash of an equal one, also without being prepared', () => {
    assert.equal(schemaHash(schemaOf(names, text)), schemaHash(schemaOf([...names].reverse(), text)))
    const other = schemaOf(names, name => (name === 'p7' ? { type: 'integer' } : text()))
    assert.notEqual(schemaHash(schemaOf(names, text)), schemaHash(other))
  })

  it('needs no preparation if it is small', () => {
    assert.equal(schemaCache(1)(schemaOf(['a'], text)).prepare?.(), undefined)
  })
})
