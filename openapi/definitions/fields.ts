import type { JSONSchemaProps, ValidationRule } from '../../framework/meta/jsonschema.ts'

// Short spellings for schemas. `more` wins over what the function sets.

type Properties = Readonly<Record<string, JSONSchemaProps>>

export const string = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'string',
  description,
  ...more,
})
export const boolean = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'boolean',
  description,
  ...more,
})
export const int32 = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'integer',
  format: 'int32',
  description,
  ...more,
})
export const int64 = (description: string, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  ...int32(description, more),
  format: 'int64',
})
/** Time and MicroTime have the same schema; only the number of digits in JSON differs. */
export const time = (description: string): JSONSchemaProps => string(description, { format: 'date-time' })
export const bytes = (description: string): JSONSchemaProps => string(description, { format: 'byte' })
export const oneOfStrings = (
  description: string,
  values: readonly string[],
  more: JSONSchemaProps = {},
): JSONSchemaProps => string(description, { enum: values, ...more })

export const object = (
  description: string,
  properties: Properties,
  more: JSONSchemaProps = {},
): JSONSchemaProps => ({ type: 'object', description, properties, ...more })
/** An object with unspecified fields. */
export const anything = (description: string): JSONSchemaProps => ({
  type: 'object',
  description,
  'x-kubernetes-preserve-unknown-fields': true,
})
/** Replaced as a whole by merges. */
export const atomicObject = (
  description: string,
  properties: Properties,
  more: JSONSchemaProps = {},
): JSONSchemaProps => object(description, properties, { 'x-kubernetes-map-type': 'atomic', ...more })
export const map = (
  description: string,
  additionalProperties: JSONSchemaProps,
  more: JSONSchemaProps = {},
): JSONSchemaProps => ({ type: 'object', description, additionalProperties, ...more })

const text: JSONSchemaProps = { type: 'string' }

export const list = (
  description: string,
  items: JSONSchemaProps = text,
  more: JSONSchemaProps = {},
): JSONSchemaProps => ({ type: 'array', description, items, ...more })
export const atomicList = (
  description: string,
  items: JSONSchemaProps = text,
  more: JSONSchemaProps = {},
): JSONSchemaProps => list(description, items, { 'x-kubernetes-list-type': 'atomic', ...more })
export const set = (
  description: string,
  items: JSONSchemaProps = text,
  more: JSONSchemaProps = {},
): JSONSchemaProps => list(description, items, { 'x-kubernetes-list-type': 'set', ...more })
/** A list of type map with these keys. */
export const listMap = (
  description: string,
  keys: readonly string[],
  items: JSONSchemaProps,
  more: JSONSchemaProps = {},
): JSONSchemaProps =>
  list(description, items, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...more,
  })
/** The list is merged by this key in strategic merge patches. */
export const mergedBy = (key: string): JSONSchemaProps => ({
  'x-kubernetes-patch-strategy': 'merge',
  'x-kubernetes-patch-merge-key': key,
})

export const rules = (...all: readonly (readonly [rule: string, message: string])[]): JSONSchemaProps => ({
  'x-kubernetes-validations': all.map(([rule, message]): ValidationRule => ({ rule, message })),
})

/** The fields of `metav1.TypeMeta`. */
export const typeMeta: Properties = {
  apiVersion: string(
    'API group and version of this object: <group>/<version>, or <version> for the core group.',
  ),
  kind: string('Kind of this object, in CamelCase.'),
}

/** The schema of a whole object: type, metadata, and the fields of the kind. */
export const kindSchema = (
  description: string,
  fields: Properties,
  more: JSONSchemaProps = {},
): JSONSchemaProps => object(description, { ...typeMeta, metadata: { type: 'object' }, ...fields }, more)
