import assert from 'node:assert/strict'
import { beside } from '../../test/support/source.ts'
import {
  type FieldError,
  type FieldErrorType,
  fieldErrorText,
  invalid,
  notFound,
  StatusError,
} from './errors.ts'

const error = (type: FieldErrorType, detail: string, value?: { readonly value: unknown }): FieldError => ({
  type,
  field: 'spec.a',
  detail,
  ...value,
})

describe('field errors', () => {
  // rules.md 2.19
  const printed: readonly (readonly [type: FieldErrorType, text: string])[] = [
    ['FieldValueRequired', 'Required value'],
    ['FieldValueForbidden', 'Forbidden'],
    ['FieldValueTooLong', 'Too long'],
    ['FieldValueTooShort', 'Too short'],
    ['FieldValueTooMany', 'Too many: 3'],
    ['FieldValueTooFew', 'Too few: 3'],
    ['FieldValueInvalid', 'Invalid value: 3'],
    ['FieldValueTypeInvalid', 'Invalid value: 3'],
    ['FieldValueNotSupported', 'Unsupported value: 3'],
    ['FieldValueDuplicate', 'Duplicate value: 3'],
    ['FieldValueNotFound', 'Not found: 3'],
    ['InternalError', 'Internal error'],
  ]
  for (const [type, text] of printed)
    it(`of type ${type} are printed as ${text}`, () => {
      assert.equal(fieldErrorText(error(type, '', { value: 3 })), `spec.a: ${text}`)
      assert.equal(fieldErrorText(error(type, 'why', { value: 3 })), `spec.a: ${text}: why`)
    })

  it('print texts in quotes, lists and objects as Go writes them, and nothing as null', () => {
    const shown = (value: unknown) => fieldErrorText(error('FieldValueInvalid', '', { value }))
    for (const [value, text] of [
      ['a"b', '"a\\"b"'],
      [true, 'true'],
      [1.5, '1.5'],
      [9007199254740993n, '9007199254740993'],
      [null, 'null'],
      [undefined, 'null'],
      [['a', 1], '["a",1]'],
      [{ a: '<' }, '{"a":"\\u003c"}'],
    ] as const)
      assert.equal(shown(value), `spec.a: Invalid value: ${text}`)
  })

  it('are returned together, each once, with their paths', () => {
    const one = error('FieldValueRequired', '')
    const root: FieldError = { type: 'FieldValueForbidden', field: '', detail: 'no' }
    const { status } = invalid('Widget', 'example.com', 'a', [one, one, root])
    assert.equal(
      status.message,
      'Widget.example.com "a" is invalid: [spec.a: Required value, <nil>: Forbidden: no]',
    )
    assert.deepEqual(status.details?.causes, [
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
      { reason: 'FieldValueForbidden', message: 'Forbidden: no', field: '<nil>' },
    ])
    const single = invalid('Widget', '', 'a', [one]).status
    assert.equal(single.message, 'Widget "a" is invalid: spec.a: Required value')
  })
})

describe('a StatusError', () => {
  const about = { group: 'example.com', resource: 'widgets', name: 'a' }

  it('of a second copy of the module is one', async () => {
    const copy = (await import(
      `${beside(import.meta, 'errors').at(-1)}?copy`
    )) as typeof import('./errors.ts')
    assert.notEqual(copy.StatusError, StatusError)
    const foreign: unknown = copy.notFound(about)
    assert.ok(foreign instanceof StatusError)
    assert.deepEqual([foreign.code, foreign.reason], [404, 'NotFound'])
  })

  it('records where it was thrown for a failure of the server, and not for a refusal', () => {
    const linesOf = (error: Error): number => error.stack?.split('\n').length ?? 0
    assert.equal(linesOf(new StatusError(404, 'NotFound', 'a')), 1)
    assert.ok(linesOf(new StatusError(500, 'InternalError', 'a')) > 1)
    assert.ok(linesOf(new Error('a')) > 1)
  })

  it('is not an object that only looks like one', () => {
    const { status } = notFound(about)
    const brand = Symbol.for('oriel/StatusError')
    const fakes: readonly unknown[] = [
      undefined,
      null,
      'StatusError',
      Object.assign(new Error('x'), { name: 'StatusError', status }),
      { [brand]: true, status },
      ...[
        undefined,
        null,
        {},
        { code: '404' },
        { code: 200, message: 'x' },
        { code: 1000, message: 'x' },
      ].map(bad => Object.assign(new Error('x'), { [brand]: true, status: bad })),
    ]
    for (const [i, fake] of fakes.entries()) assert.ok(!(fake instanceof StatusError), String(i))
  })

  it('of a subclass is distinguished from others', () => {
    class Special extends StatusError {}
    assert.ok(new Special(409, 'Conflict', 'x') instanceof Special)
    assert.ok(new Special(409, 'Conflict', 'x') instanceof StatusError)
    assert.ok(!(notFound(about) instanceof Special))
  })
})
