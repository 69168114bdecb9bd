import assert from 'node:assert/strict'
import type { KubeObject } from '../object.ts'
import { refuseMistyped } from './mistyped.ts'
import type { Served } from './served.ts'

const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }

/** A kind whose schema has one complaint. */
const servedWith = (custom: boolean, value: string, detail: string): Served =>
  ({
    kind: 'ConfigMap',
    resource: { custom, names: { kind: 'ConfigMap' } },
    schema: { validate: () => [{ type: 'FieldValueTypeInvalid', field: 'data.a', value, detail }] },
  }) as unknown as Served

describe('values of another type', () => {
  const refusals: readonly (readonly [value: string, wanted: string, text: string])[] = [
    [
      'integer',
      'string',
      'json: cannot unmarshal number into Go struct field ConfigMap.data.a of type string',
    ],
    ['string', 'boolean', 'json: cannot unmarshal string into Go struct field ConfigMap.data.a of type bool'],
    ['a!', 'byte', 'illegal base64 data at input byte 1'],
    ['YWJjZ', 'byte', 'illegal base64 data at input byte 4'],
  ]
  for (const [value, wanted, text] of refusals)
    it(`are not read: ${text}`, () =>
      assert.throws(
        () =>
          refuseMistyped(object, servedWith(false, value, `data.a in body must be of type ${wanted}: "x"`)),
        { message: text },
      ))

  it('are left to the schema where objects are custom', () =>
    refuseMistyped(object, servedWith(true, 'integer', 'data.a in body must be of type string: "integer"')))
})
