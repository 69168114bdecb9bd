import assert from 'node:assert/strict'
import { type FieldError, fieldErrorBody } from '../../../framework/meta/errors.ts'
import type { JSONSchemaProps, ValidationRule } from '../../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { compileSchema } from '../../compile.ts'

/** A schema, an object, the object that it replaces, and Kubernetes' errors. */
export interface Row {
  readonly name: string
  readonly schema: JSONSchemaProps
  readonly spec: unknown
  readonly old?: unknown
  readonly errors: readonly string[]
}

const object = (spec: unknown): KubeObject =>
  ({ apiVersion: 'e.com/v1', kind: 'W', metadata: { name: 'w' }, spec }) as KubeObject

const text = (error: FieldError): string =>
  `${error.field === '' ? '<nil>' : error.field}: ${fieldErrorBody(error)}`

export const validate = (schema: JSONSchemaProps, spec: unknown, old?: unknown): readonly string[] =>
  compileSchema(schema)
    .validate(object(spec), old === undefined ? undefined : object(old))
    .map(text)

/** That many different strings. */
export const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => String(i))

export const schemaOf = (spec: JSONSchemaProps): JSONSchemaProps => ({ type: 'object', properties: { spec } })

const ports: JSONSchemaProps = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, port: { type: 'integer' } },
  },
}

/** A spec with a number, a string, a set, a list of type map and a map, and these rules about it. */
export const ruled = (...rules: readonly ValidationRule[]): JSONSchemaProps =>
  schemaOf({
    type: 'object',
    properties: {
      size: { type: 'integer' },
      name: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ports,
      m: { type: 'object', additionalProperties: { type: 'string' } },
    },
    'x-kubernetes-validations': rules,
  })

export function itJudges(rows: readonly Row[]): void {
  for (const { name, schema, spec, old, errors } of rows)
    it(`${name}: ${errors[0] ?? 'fine'}`, () => assert.deepEqual(validate(schema, spec, old), errors))
}
