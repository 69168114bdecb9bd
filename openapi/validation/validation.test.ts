import assert from 'node:assert/strict'
import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { mixedText } from '../../framework/testing/mixedtext.ts'
import { turnsDuring } from '../../test/support/time/during.ts'
import { compileSchema } from '../compile.ts'
import { errorsOf, objectOf, schemaOf, string } from './testing/errors.ts'

describe('validation', () => {
  it('accepts valid values', () => {
    const cases: readonly (readonly [JSONSchemaProps, unknown])[] = [
      [{ type: 'number' }, 1],
      [{ type: 'integer' }, 1.0],
      [{ type: 'integer' }, 9007199254740993n],
      [{ type: 'integer', minimum: 5, multipleOf: 3 }, 9007199254740993n],
      [{ type: 'number', multipleOf: 0.1 }, 0.3],
      [{ 'x-kubernetes-int-or-string': true }, 1],
      [{ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, '1'],
      [{ type: 'string', nullable: true }, null],
      [{ type: 'string', enum: ['a', null], nullable: true } as JSONSchemaProps, null],
      [{ type: 'string', maxLength: 2, minLength: 2 }, '😀😀'],
      [{ type: 'string', format: 'unheard-of' }, 'x'],
      [{ type: 'object', properties: { b: string }, not: { required: ['c'] } }, { b: 'x' }],
      [{ type: 'array', items: string, 'x-kubernetes-list-type': 'set' }, ['a', 'b']],
      [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { x: [1, { y: null }] }],
    ]
    for (const [schema, value] of cases) assert.deepEqual(errorsOf(schema, value), [])
  })

  it('finds no member where the prototype has one', () => {
    assert.deepEqual(errorsOf({ type: 'object', required: ['constructor'] }, {}), [
      'spec.a.constructor: Required value',
    ])
    const value = JSON.parse('{"__proto__":1,"constructor":"x"}')
    assert.deepEqual(errorsOf({ type: 'object', additionalProperties: string }, value), [
      'spec.a.__proto__: Invalid value: "integer": spec.a.__proto__ in body must be of type string: "integer"',
    ])
  })

  it('reports the alternative that came closest', () => {
    const deep: JSONSchemaProps = { properties: { b: { properties: { c: { enum: ['x'] } } } } }
    const schema: JSONSchemaProps = {
      type: 'object',
      properties: { b: { type: 'object', properties: { c: string } } },
      oneOf: [{ required: ['z'] }, deep],
    }
    assert.equal(
      errorsOf(schema, { b: { c: 'y' } })[1],
      'spec.a.b.c: Unsupported value: "y": supported values: "x"',
    )
  })

  it('finds duplicates below keys of maps, written as Kubernetes does', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      additionalProperties: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    }
    assert.deepEqual(errorsOf(schema, { 'x/y': ['a', 'a'] }), ['spec.a[x/y][1]: Duplicate value: "a"'])
  })
})

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as JSONSchemaProps

/** An object that counts how often its member is read. */
const watched = (counted: { reads: number }): object => ({
  get a() {
    counted.reads++
    return 1
  },
})

describe('validation of hostile objects', () => {
  it('stops at a thousand errors', () => {
    const many = Array.from({ length: 300_000 }, (_, i) => i >> 1)
    assert.equal(errorsOf({ type: 'array', items: string }, many).length, 1000)
    assert.equal(errorsOf({ type: 'array', 'x-kubernetes-list-type': 'set' }, many).length, 1000)
    assert.equal(errorsOf({ type: 'object', additionalProperties: string }, { ...many }).length, 1000)
  })

  it('reports a changed value after a thousand old errors', () => {
    const old = { x: Array.from({ length: 2000 }, () => 1), y: 'y' }
    const schema = compileSchema(
      schemaOf({ type: 'object', properties: { x: { type: 'array', items: string }, y: string } }),
    )
    const errors = schema.validate(objectOf({ ...old, y: 1 }), objectOf(old))
    assert.deepEqual(
      errors.map(e => e.field),
      ['spec.a.y'],
    )
  })

  it('limits the work of regular expressions', () => {
    const costly: JSONSchemaProps = { type: 'string', pattern: '[ab]*a[ab]{900}[cd]' }
    const texts = errorsOf({ type: 'array', items: costly }, ['ab'.repeat(100), 'ab'.repeat(2_000)])
    assert.match(texts[0] ?? '', /should match/)
    assert.equal(
      texts[1],
      `spec.a[1]: Invalid value: "": spec.a[1] in body is too long to be matched against '[ab]*a[ab]{900}[cd]'`,
    )
  })

  it('limits the work of all regular expressions together', () => {
    const items: JSONSchemaProps = { type: 'string', pattern: 'a[ab]{200}[cd]' }
    const texts = errorsOf({ type: 'array', items }, new Array(220).fill('ab'.repeat(600)))
    assert.equal(texts.length, 1)
    assert.match(texts[0] ?? '', /^spec\.a\[20\d\]: .* limit of patterns is 50000000 steps together$/)
  })

  it('matches long texts in steps', () => {
    const items: JSONSchemaProps = { type: 'string', pattern: 'a[ab]{100}[cd]' }
    const schema = compileSchema(schemaOf({ type: 'array', items }))
    // Each of them needs other states of the automaton.
    const list = Array.from(
      { length: 6 },
      (_, i) => `${mixedText(4_000, i)}a${mixedText(100, i)}${i % 2 === 0 ? 'c' : 'a'}`,
    )
    const steps = schema.validateSteps(objectOf(list), undefined)
    let count = 0
    let step = steps.next()
    for (; !step.done; step = steps.next()) count++
    assert.ok(count > 4, `${count} steps`)
    assert.deepEqual(
      step.value.map(({ field }) => field),
      ['spec.a[1]', 'spec.a[3]', 'spec.a[5]'],
    )
  })

  it('matches longer texts beside the event loop', async () => {
    const items: JSONSchemaProps = { type: 'string', pattern: 'a[ab]{100}[cd]' }
    const schema = compileSchema(schemaOf({ type: 'array', items }))
    const list = ['c', 'a', 'd'].map((end, i) => `${mixedText(100_000, i)}a${mixedText(100, i)}${end}`)
    const matching = inTurns(
      schema.validateSteps(objectOf(list), undefined, { account: 'alice' }),
      new Pace(),
    )
    assert.ok((await turnsDuring(matching)) > 3)
    assert.deepEqual(
      (await matching).map(({ field }) => field),
      ['spec.a[1]'],
    )
    const refused = schema.validate(objectOf(list)).map(({ detail }) => detail)
    for (const detail of refused) assert.match(detail, /is too long to be matched/)
    assert.equal(refused.length, 3)
  })

  describe('with many alternatives', () => {
    const alternatives = (count: number, make: (i: number) => JSONSchemaProps) =>
      Array.from({ length: count }, (_, i) => make(i))
    const listOf = (more: JSONSchemaProps): JSONSchemaProps => ({
      type: 'array',
      items: { type: 'string', ...more },
    })

    /** The errors of a list of texts, and the number of steps. */
    function validated(items: JSONSchemaProps, list: readonly string[], old?: readonly string[]) {
      const schema = compileSchema(schemaOf(items))
      const steps = schema.validateSteps(objectOf(list), old && objectOf(old))
      for (let count = 1; ; count++) {
        const step = steps.next()
        if (step.done) return { count, errors: step.value.map(({ field, detail }) => `${field}: ${detail}`) }
      }
    }

    it('are validated in steps, with the errors of one step', () => {
      const one = listOf({ oneOf: alternatives(400, i => ({ enum: [`v${i}`] })) })
      const valid = Array.from({ length: 1_000 }, (_, i) => `v${i % 400}`)
      const { count, errors } = validated(one, [...valid, 'w'])
      assert.ok(count > 5, `${count} steps`)
      assert.deepEqual(errors.slice(0, 1), [
        ': "spec.a[1000]" must validate one and only one schema (oneOf). Found none valid',
      ])
      assert.equal(errors.length, 2)
      assert.deepEqual(validated(one, [...valid, 'w'], ['x', 'w']).errors, errors)
    })

    it('are validated in steps in each other', () => {
      const inner = { anyOf: alternatives(200, i => ({ minLength: 200 - i })) }
      const nested = listOf({ allOf: alternatives(20, () => ({ ...inner, not: { minLength: 2 } })) })
      const { count, errors } = validated(nested, new Array(100).fill('a'))
      assert.ok(count > 5, `${count} steps`)
      assert.deepEqual(errors, [])
    })

    it('are refused when they have too many values', () => {
      const many = listOf({ allOf: alternatives(2_000, () => ({ minLength: 1 })) })
      const { errors } = validated(many, new Array(2_000).fill('a'))
      assert.equal(errors.length, 1)
      assert.match(
        errors[0] ?? '',
        /^spec\.a\[99\d\]: limit of anyOf, oneOf, allOf and not is 2000000 values together$/,
      )
    })

    it('keep the errors of one failed alternative', () => {
      const lists = alternatives(200, i => ({ items: { minLength: 2 + i } }))
      const nested: JSONSchemaProps = { type: 'array', items: { type: 'string' }, anyOf: lists }
      const { errors } = validated(nested, new Array(900).fill('a'))
      assert.equal(errors.length, 901)
      assert.match(errors[900] ?? '', /should be at least 2 chars long/)
    })
  })

  it('compares a value with its old one once, whatever is below it', () => {
    const depth = 60
    let schema: JSONSchemaProps = { type: 'string', maxLength: 2 }
    for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { big: anything, n: schema } }
    const counted = { reads: 0 }
    const nested = (leaf: string): unknown => {
      let value: unknown = leaf
      for (let i = 0; i < depth; i++) value = { big: watched(counted), n: value }
      return value
    }
    const [next, old] = [nested('long'), nested('other')]
    const errors = compileSchema(schemaOf(schema)).validate(objectOf(next), objectOf(old))
    assert.deepEqual(
      errors.map(({ detail }) => detail),
      ['may not be more than 2 bytes'],
    )
    assert.ok(counted.reads < 3 * depth, `${counted.reads} reads`)
  })

  it('forgives an error in an equal list, although its keys are repeated', () => {
    const keyed = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'string', maxLength: 2 } } },
    } as JSONSchemaProps
    const schema = compileSchema(
      schemaOf({ type: 'object', properties: { l: keyed, other: { type: 'string' } } }),
    )
    const list = [
      { k: 'a', v: 'long' },
      { k: 'a', v: 'x' },
    ]
    const errors = schema.validate(objectOf({ l: list, other: 'a' }), objectOf({ l: list, other: 'b' }), {
      mayRepeat: true,
    })
    assert.deepEqual(errors, [])
  })

  it('of long enumerations share the text of the allowed values', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => `v${i}`)
    const schema = compileSchema(schemaOf({ type: 'array', items: { type: 'string', enum: values } }))
    const errors = schema.validate(objectOf(new Array(1_000).fill('w')))
    assert.equal(errors.length, 1_000)
    assert.ok(errors.every(({ detail }) => detail.startsWith('supported values: "v0", "v1"')))
  })

  it('of enumerated objects do not depend on the order of keys', () => {
    const allowed = Array.from({ length: 2_000 }, (_, i) => ({ a: i, b: [i] }))
    const item = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      enum: allowed,
    } as JSONSchemaProps
    const list = [...allowed.map(({ a, b }) => ({ b, a })), { a: 1, b: [2] }]
    assert.deepEqual(
      compileSchema(schemaOf({ type: 'array', items: item }))
        .validate(objectOf(list))
        .map(({ field }) => field),
      ['spec.a[2000]'],
    )
  })
})
