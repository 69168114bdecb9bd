import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { itJudges, type Row, ruled, texts, validate } from './testing/rules.ts'

const rows: readonly Row[] = [
  {
    name: 'transition',
    schema: ruled({ rule: 'self.size >= oldSelf.size', message: 'size may not shrink' }),
    spec: { size: 3 },
    old: { size: 5 },
    errors: ['spec: Invalid value: size may not shrink'],
  },
  {
    name: 'a transition rule on create',
    schema: ruled({ rule: 'self.size >= oldSelf.size', message: 'size may not shrink' }),
    spec: { size: 3 },
    errors: [],
  },
  {
    name: 'default message',
    schema: ruled({ rule: 'self.size > 1' }),
    spec: { size: 0 },
    errors: ['spec: Invalid value: failed rule: self.size > 1'],
  },
  {
    name: 'reason and field',
    schema: ruled({ rule: 'self.size > 1', reason: 'FieldValueForbidden', fieldPath: '.size' }),
    spec: { size: 0 },
    errors: ['spec.size: Forbidden: failed rule: self.size > 1'],
  },
  {
    name: 'required with message',
    schema: ruled({
      rule: 'self.size > 1',
      reason: 'FieldValueRequired',
      fieldPath: '.size',
      message: ' needed ',
    }),
    spec: { size: 0 },
    errors: ['spec.size: Required value: needed'],
  },
  {
    name: 'duplicate',
    schema: ruled({ rule: 'self.size > 1', reason: 'FieldValueDuplicate' }),
    spec: { size: 0 },
    errors: ['spec: Duplicate value'],
  },
  {
    name: 'message expression',
    schema: ruled({ rule: 'self.size > 1', messageExpression: "'size is ' + string(self.size)" }),
    spec: { size: 0 },
    errors: ['spec: Invalid value: size is 0'],
  },
  {
    name: 'a message expression that fails',
    schema: ruled({ rule: 'self.size > 1', message: 'm', messageExpression: 'self.name' }),
    spec: { size: 0 },
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'an empty message',
    schema: ruled({ rule: 'self.size > 1', message: 'm', messageExpression: "''" }),
    spec: { size: 0 },
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'missing keys',
    schema: ruled({ rule: "self.name == 'x'", message: 'm' }, { rule: "self.name == 'x'" }),
    spec: { size: 0 },
    errors: [
      'spec: Invalid value: "object": no such key: name evaluating rule: m',
      `spec: Invalid value: "object": no such key: name evaluating rule: self.name == 'x'`,
    ],
  },
  {
    name: 'division by zero',
    schema: ruled({ rule: '1/self.size > 0' }),
    spec: { size: 0 },
    errors: ['spec: Invalid value: "object": division by zero evaluating rule: 1/self.size > 0'],
  },
  {
    name: 'optional old self that is not there',
    schema: ruled({ rule: '!has(oldSelf) || true', optionalOldSelf: true }),
    spec: { size: 1 },
    errors: [
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:6: invalid argument to has() macro\n' +
        ' | !has(oldSelf) || true\n' +
        ' | .....^',
    ],
  },
  {
    name: 'optional old self',
    schema: ruled({
      rule: '!oldSelf.hasValue() || oldSelf.value().size <= self.size',
      optionalOldSelf: true,
    }),
    spec: { size: 1 },
    old: { size: 2 },
    errors: ['spec: Invalid value: failed rule: !oldSelf.hasValue() || oldSelf.value().size <= self.size'],
  },
  {
    name: 'optional old self on create',
    schema: ruled({ rule: 'oldSelf.hasValue()', optionalOldSelf: true, message: 'no create' }),
    spec: { size: 1 },
    errors: ['spec: Invalid value: no create'],
  },
  {
    name: 'select on optional old self',
    schema: ruled({ rule: 'oldSelf.?size.orValue(0) < self.size', optionalOldSelf: true }),
    spec: { size: 1 },
    old: { size: 7 },
    errors: ['spec: Invalid value: failed rule: oldSelf.?size.orValue(0) < self.size'],
  },
  {
    name: 'ratcheting where something changed',
    schema: ruled({ rule: 'self.size > 1' }),
    spec: { size: 0, name: 'b' },
    old: { size: 0, name: 'a' },
    errors: ['spec: Invalid value: failed rule: self.size > 1'],
  },
  {
    name: 'ratcheting where nothing changed',
    schema: ruled({ rule: 'self.size > 1' }),
    spec: { size: 0 },
    old: { size: 0 },
    errors: [],
  },
  {
    name: 'sets and maps',
    schema: ruled(
      { rule: "self.tags == ['b','a']" },
      { rule: "self.tags + ['a','c'] == ['c','b','a']" },
      { rule: 'self.ports == oldSelf.ports' },
      { rule: '(self.ports + oldSelf.ports).size() == 2' },
    ),
    spec: {
      tags: ['a', 'b'],
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    },
    old: {
      tags: ['b', 'a'],
      ports: [
        { name: 'b', port: 2 },
        { name: 'a', port: 1 },
      ],
    },
    errors: [],
  },
  {
    name: 'metadata of the whole',
    schema: {
      ...ruled(),
      'x-kubernetes-validations': [
        { rule: "self.metadata.name == 'x'", message: 'name' },
        { rule: "self.kind == 'W'" },
      ],
    },
    spec: { size: 0 },
    errors: ['<nil>: Invalid value: name'],
  },
  {
    name: 'call limit',
    schema: ruled({ rule: "self.tags.all(x, self.tags.all(y, self.tags.all(z, x + y + z != 'q')))" }),
    spec: { tags: texts(100) },
    errors: [
      `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.tags.all(x, self.tags.all(y, self.tags.all(z, x + y + z != 'q')))`,
    ],
  },
  {
    name: 'maps',
    schema: ruled(
      { rule: "self.m.size() == 2 && self.m.all(k, self.m[k] != '')" },
      { rule: "'a' in self.m" },
      { rule: "self.m == {'a':'1'}" },
      { rule: "self.m.exists(k, v, v == '9')" },
    ),
    spec: { m: { a: '1', b: '2' } },
    errors: [
      "spec: Invalid value: failed rule: self.m == {'a':'1'}",
      "spec: Invalid value: failed rule: self.m.exists(k, v, v == '9')",
    ],
  },
  {
    name: 'patterns',
    schema: ruled(
      { rule: "self.name.matches('^[a-z]+$')", message: 'bad name' },
      { rule: 'self.name.matches(self.name)' },
    ),
    spec: { name: 'A(' },
    errors: [
      'spec: Invalid value: bad name',
      'spec: Invalid value: "object": error parsing regexp: missing closing ): `A(` evaluating rule: self.name.matches(self.name)',
    ],
  },
  {
    name: 'expensive message',
    schema: ruled({
      rule: 'self.size > 1',
      messageExpression:
        "[1,2,3,4,5,6,7,8,9,10].map(x, [1,2,3,4,5,6,7,8,9,10].map(y, [1,2,3,4,5,6,7,8,9,10].map(z, [1,2,3,4,5,6,7,8,9,10].map(w,[1,2,3,4,5,6,7,8,9,10].map(w, 'a'))))).size() > 1 ? 'a' : 'b'",
    }),
    spec: { size: 0 },
    errors: ['spec: Invalid value: a'],
  },
]

describe('rules', () => {
  itJudges(rows)

  const size: JSONSchemaProps = {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer' }, name: { type: 'string', maxLength: 2 } },
        'x-kubernetes-validations': [{ rule: 'self.size > 1' }],
      },
    },
  }

  it('wait for an object of the right shape', () => {
    const notChecked =
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
    assert.deepEqual(validate(size, { size: 0, name: 'long' }), [
      'spec.name: Too long: may not be more than 2 bytes',
      notChecked,
    ])
  })

  it('ignore unchanged values', () => {
    assert.deepEqual(validate(size, { size: 0 }, { size: 0 }), [])
    assert.deepEqual(validate(size, { size: 0, name: 'b' }, { size: 0 }), [
      'spec: Invalid value: failed rule: self.size > 1',
    ])
  })

  it('report rules that do not compile, which another server accepted', () => {
    const schema: JSONSchemaProps = { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.x' }] }
    assert.deepEqual(validate(schema, {}), [
      `<nil>: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'x'\n | self.x\n | ....^`,
    ])
  })
})
