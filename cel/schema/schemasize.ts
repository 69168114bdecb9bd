import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** The maximum size of a request, in bytes, which limits values that no schema limits. */
const maxRequestSize = 3 * 1024 * 1024

/** The maximum size of a scalar, and its minimum size in JSON. */
interface SchemaSize {
  /** The maximum length of strings; 0 for values without a length. */
  readonly maxElements: number
  readonly minSize: number
}

const atLeastZero = (count: number): number => Math.max(0, count)

/** A code point has up to four bytes. */
const lengthSize = (schema: JSONSchemaProps): number | undefined =>
  schema.maxLength === undefined ? undefined : atLeastZero(schema.maxLength) * 4

/** The size of an integer or a string. */
export const intOrStringSize = (schema: JSONSchemaProps): SchemaSize => ({
  maxElements: lengthSize(schema) ?? maxRequestSize - 2,
  minSize: 1,
})

const formats: Readonly<Record<string, SchemaSize>> = {
  duration: { maxElements: 32, minSize: 3 },
  date: { maxElements: 12, minSize: 12 },
  'date-time': { maxElements: 32, minSize: 21 },
}

/** The size of a string, by its format, its enum and its maximum length. */
export function stringSize(schema: JSONSchemaProps): SchemaSize {
  const { format = '', maxLength, enum: values = [] } = schema
  const known = formats[format]
  if (known !== undefined) return known
  if (format === 'byte')
    return { maxElements: maxLength === undefined ? maxRequestSize - 2 : atLeastZero(maxLength), minSize: 2 }
  const longest = values.reduce<number>(
    (most, value) => (typeof value === 'string' ? Math.max(most, Buffer.byteLength(value)) : most),
    0,
  )
  const unlimited = values.length > 0 ? longest : maxRequestSize - 2
  return { maxElements: lengthSize(schema) ?? unlimited, minSize: 2 }
}

/** The maximum number of items of at least `itemSize` bytes in a request. */
export const listMax = (schema: JSONSchemaProps, itemSize: number): number =>
  schema.maxItems === undefined
    ? Math.trunc((maxRequestSize - 2) / (itemSize + 1))
    : atLeastZero(schema.maxItems)

/** The maximum number of entries with values of at least `valueSize` bytes in a request. */
export const mapMax = (schema: JSONSchemaProps, valueSize: number): number =>
  schema.maxProperties === undefined
    ? Math.trunc((maxRequestSize - 2) / (valueSize + 6))
    : atLeastZero(schema.maxProperties)

/** The maximum number of values of at least `minSize` bytes in a request. */
export const maxCardinality = (minSize: number): number => Math.trunc(maxRequestSize / (minSize + 1))
