import { type FieldError, fieldErrorBody } from '../../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import { compileSchema } from '../../compile.ts'

export const text = (error: FieldError): string => `${error.field || '<nil>'}: ${fieldErrorBody(error)}`

export const objectOf = (a: unknown) => ({ apiVersion: 'e.io/v1', kind: 'W', metadata: {}, spec: { a } })

export const schemaOf = (a: JSONSchemaProps, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { a }, ...more } },
})

/** The texts of all errors of `spec.a`. */
export const errorsOf = (a: JSONSchemaProps, value: unknown): readonly string[] =>
  compileSchema(schemaOf(a)).validate(objectOf(value)).map(text)

export const string: JSONSchemaProps = { type: 'string' }

export const named: JSONSchemaProps = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: string, size: { type: 'integer' } }, required: ['name'] },
}
