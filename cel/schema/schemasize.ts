import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** The largest request that is accepted, in bytes: what no schema limits, this does. */
export const maxRequestSize = 3 * 1024 * 1024

/** How large values of a scalar schema can be, and how small in JSON. */
export interface SchemaSize {
  /** Of strings the most characters, 0 for what has no length. */
  readonly maxElements: number
  readonly minSize: number
}

const atLeastZero = (count: number): number => Math.max(0, count)

/** Lengths are given in code points, which have up to four bytes. */
const lengthSize = (schema: JSONSchemaProps): number | undefined =>
  schema.maxLength === undefined ? undefined : atLeastZero(schema.maxLength) * 4

export const intOrStringSize = (schema: JSONSchemaProps): SchemaSize => ({
  maxElements: lengthSize(schema) ?? maxRequestSize - 2,
  minSize: 1,
})

const formats: Readonly<Record<string, SchemaSize>> = {
  duration: { maxElements: 32, minSize: 3 },
  date: { maxElements: 12, minSize: 12 },
  'date-time': { maxElements: 32, minSize: 21 },
}

export function stringSize(schema: JSONSchemaProps): SchemaSize {
  const { format = '', maxLength, enum: values = [] } = schema
  const known = formats[format]
  if (known !== undefined) return known
  if (format === 'byte')
    return { maxElements: maxLength === undefined ? maxRequestSize - 2 : atLeastZero(maxLength), minSize: 2 }
  const longest = Math.max(
    0,
    ...values.map(value => (typeof value === 'string' ? Buffer.byteLength(value) : 0)),
  )
  const unlimited = values.length > 0 ? longest : maxRequestSize - 2
  return { maxElements: lengthSize(schema) ?? unlimited, minSize: 2 }
}

/** The most items, each of at least so many bytes, that fit into a request. */
export const listMax = (schema: JSONSchemaProps, itemSize: number): number =>
  schema.maxItems === undefined
    ? Math.trunc((maxRequestSize - 2) / (itemSize + 1))
    : atLeastZero(schema.maxItems)

export const mapMax = (schema: JSONSchemaProps, valueSize: number): number =>
  schema.maxProperties === undefined
    ? Math.trunc((maxRequestSize - 2) / (valueSize + 6))
    : atLeastZero(schema.maxProperties)

/** How often a value of at least so many bytes can be in one request. */
export const maxCardinality = (minSize: number): number => Math.trunc(maxRequestSize / (minSize + 1))
