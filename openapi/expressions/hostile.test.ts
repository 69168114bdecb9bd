import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { compileSchema } from '../compile.ts'

// Expressions with which a tenant could block the process. Each ends because of its cost limit; without limits each takes
// minutes.

const text: JSONSchemaProps = { type: 'string' }
const list: JSONSchemaProps = { type: 'array', items: text }
const lists: JSONSchemaProps = { type: 'array', items: list }
const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => String(i))
const long = 'ü'.repeat(200_000)

interface Attack {
  readonly name: string
  readonly spec: JSONSchemaProps
  readonly rule: string
  readonly value: unknown
}

const attacks: readonly Attack[] = [
  {
    name: 'loops in loops',
    spec: list,
    rule: 'self.all(x, self.all(y, self.all(z, true)))',
    value: texts(300),
  },
  {
    name: 'errors in loops',
    spec: list,
    rule: 'self.all(x, self.all(y, 1/0 == 1 || true))',
    value: texts(1000),
  },
  { name: 'patterns', spec: text, rule: "self.matches('[ab]*a[ab]{900}[cd]')", value: 'ab'.repeat(200_000) },
  {
    name: 'patterns that are values',
    spec: list,
    rule: "self.all(x, !''.matches(x))",
    value: texts(20_000).map(each => `(?:\\pL\\pN){900}${each}`),
  },
  { name: 'texts that grow', spec: text, rule: "self.replace('', self).size() > 0", value: long },
  { name: 'texts that are counted', spec: text, rule: "self.split('').all(x, self.size() > 0)", value: long },
  {
    name: 'texts that are cut',
    spec: text,
    rule: "self.split('').all(x, self.substring(1) != x)",
    value: long,
  },
  { name: 'ranges', spec: text, rule: 'lists.range(1000000000).size() > 0', value: '' },
  {
    name: 'deep comparison',
    spec: lists,
    rule: 'self.all(x, self.all(y, [self] == [self.map(z, z)]))',
    value: new Array(300).fill(texts(300)),
  },
  { name: 'sums', spec: list, rule: 'self.all(x, (self + self).size() > 0)', value: texts(50_000) },
  {
    name: 'sums of sets',
    spec: { ...list, 'x-kubernetes-list-type': 'set' },
    rule: 'self.all(x, (self + self).size() > 0)',
    value: texts(50_000),
  },
  {
    name: 'time zones',
    spec: list,
    rule: "self.all(x, timestamp('2020-01-01T00:00:00Z').getHours('Asia/Tokyo') == 9)",
    value: texts(110_000),
  },
  {
    name: 'maps that grow',
    spec: list,
    rule: 'self.all(x, self.transformMap(i, v, v).size() > 0)',
    value: texts(10_000),
  },
  { name: 'distinct items', spec: list, rule: 'self.distinct().size() > 0', value: texts(90_000) },
  { name: 'sets', spec: list, rule: 'sets.equivalent(self, self)', value: texts(90_000) },
  {
    name: 'searches in lists',
    spec: list,
    rule: "self.all(x, self.indexOf('0') == 0)",
    value: texts(90_000),
  },
  { name: 'the largest of many', spec: list, rule: "self.all(x, self.max() != '')", value: texts(90_000) },
  { name: 'sorted lists', spec: list, rule: 'self.sort().size() > 0', value: texts(90_000) },
]

describe('hostile rules', () => {
  for (const { name, spec, rule, value } of attacks)
    it(`are stopped: ${name}`, () => {
      const schema = compileSchema({
        type: 'object',
        properties: { spec: { ...spec, 'x-kubernetes-validations': [{ rule, message: 'm' }] } },
      })
      const object = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' }, spec: value } as KubeObject
      assert.deepEqual(
        schema.validate(object).map(error => error.detail),
        [
          "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: m",
        ],
      )
    })

  it('leave turns to other requests', () => {
    const rule = { rule: 'self.all(x, self.exists(y, y == x))', message: 'm' }
    const spec = { ...list, 'x-kubernetes-validations': [rule, rule, rule] }
    const schema = compileSchema({ type: 'object', properties: { spec } })
    const stepsOf = (count: number): number => {
      const object = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' }, spec: texts(count) }
      return [...schema.validateSteps(object as KubeObject)].length
    }
    // The first time each rule is compiled in a step of its own.
    assert.equal(stepsOf(10), 8)
    assert.equal(stepsOf(10), 5)
    assert.ok(stepsOf(200) >= 10, `${stepsOf(200)} steps`)
  })

  it('trim long texts in one pass', () => {
    const rule = { rule: "self.trim() == 'x'", message: 'm' }
    const schema = compileSchema({
      type: 'object',
      properties: { spec: { ...text, 'x-kubernetes-validations': [rule] } },
    })
    const blanks = ' '.repeat(300_000)
    const object = {
      apiVersion: 'a/v1',
      kind: 'A',
      metadata: { name: 'a' },
      spec: `${blanks}x${blanks}`,
    } as KubeObject
    assert.deepEqual(schema.validate(object), [])
  })
})
