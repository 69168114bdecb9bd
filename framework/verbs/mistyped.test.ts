import assert from 'node:assert/strict'
import type { Served } from '../contract/apis.ts'
import { atOnce } from '../json/json.ts'
import type { KubeObject } from '../meta/object.ts'
import { refuseMistyped } from './body.ts'

const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }

interface Complaint {
  readonly kind: string
  readonly field: string
  readonly value: string
  readonly wanted: string
}

/** A kind whose schema has one complaint. */
const servedWith = (custom: boolean, { kind, field, value, wanted }: Complaint): Served =>
  ({
    group: '',
    kind,
    resource: { custom, names: { kind } },
    schema: {
      validate: () => [
        {
          type: 'FieldValueTypeInvalid',
          field,
          value,
          detail: `${field} in body must be of type ${wanted}: "x"`,
        },
      ],
    },
  }) as unknown as Served

describe('values of another type', () => {
  const struct = (text: string): string => `json: cannot unmarshal ${text}`
  // Texts are those of kcp.
  const refusals: readonly (readonly [
    kind: string,
    field: string,
    value: string,
    wanted: string,
    text: string,
  ])[] = [
    [
      'ConfigMap',
      'data.a',
      'integer',
      'string',
      struct('number into Go struct field ConfigMap.data of type string'),
    ],
    [
      'ConfigMap',
      'data',
      'integer',
      'object',
      struct('number into Go struct field ConfigMap.data of type map[string]string'),
    ],
    [
      'ConfigMap',
      'immutable',
      'string',
      'boolean',
      struct('string into Go struct field ConfigMap.immutable of type bool'),
    ],
    [
      'Role',
      'rules[0].verbs[1]',
      'integer',
      'string',
      struct('number into Go struct field PolicyRule.rules.verbs of type string'),
    ],
    [
      'Role',
      'rules[0].verbs',
      'integer',
      'array',
      struct('number into Go struct field PolicyRule.rules.verbs of type []string'),
    ],
    [
      'Role',
      'rules[0]',
      'string',
      'object',
      struct('string into Go struct field Role.rules of type v1.PolicyRule'),
    ],
    [
      'Role',
      'rules',
      'integer',
      'array',
      struct('number into Go struct field Role.rules of type []v1.PolicyRule'),
    ],
    [
      'Lease',
      'spec.leaseDurationSeconds',
      'string',
      'integer',
      struct('string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32'),
    ],
    ['Odd', 'spec.a', 'string', 'integer', struct('string into Go struct field Odd.spec.a of type number')],
    ['Secret', 'data.a', 'a!', 'byte', 'illegal base64 data at input byte 1'],
    ['Secret', 'data.a', 'YWJjZ', 'byte', 'illegal base64 data at input byte 4'],
  ]
  for (const [kind, field, value, wanted, message] of refusals)
    it(`are not read: ${message}`, () =>
      assert.throws(() => atOnce(refuseMistyped(object, servedWith(false, { kind, field, value, wanted }))), {
        message,
      }))

  it('are left to the schema where objects are custom', () =>
    atOnce(
      refuseMistyped(
        object,
        servedWith(true, { kind: 'ConfigMap', field: 'data.a', value: 'integer', wanted: 'string' }),
      ),
    ))
})
