import { formatCheck } from '../../framework/formats/formats.ts'
import { type JsonType, typeOf } from '../../framework/formats/values.ts'
import { invalidType } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { pathOf, type ValueRule } from './validation.ts'

/** The format, when it means something for the type (chapter 40, rule 7.24). */
export function effectiveFormat({ type, format }: JSONSchemaProps): string | undefined {
  if (format === undefined || format === '') return undefined
  const known = {
    integer: format === 'int32' || format === 'int64',
    number: format === 'float' || format === 'double',
    string: formatCheck(format) !== undefined,
  }
  if (type === undefined) return known.string ? format : undefined
  return type in known && known[type as keyof typeof known] ? format : undefined
}

const typesOf = (schema: JSONSchemaProps): readonly JsonType[] => {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string']
  return schema.type === undefined ? [] : [schema.type]
}

/** What Kubernetes calls the format of a number that should have been something else. */
const dataFormats: Readonly<Partial<Record<JsonType, string>>> = { integer: 'int64', number: 'float64' }

export function typeRule(schema: JSONSchemaProps): ValueRule | undefined {
  const types = typesOf(schema)
  if (types.length === 0) return undefined
  const format = effectiveFormat(schema)
  const expected = types.join(',')
  return (value, walk) => {
    const actual = typeOf(value)
    if (types.includes(actual) || (actual === 'integer' && types.includes('number'))) return
    if (actual === 'null' && schema.nullable === true) return
    const asFormat = format !== undefined && !['null', 'string', 'array'].includes(actual)
    const [wanted, given] = asFormat ? [format, dataFormats[actual] ?? ''] : [expected, actual]
    const path = pathOf(walk)
    walk.errors.push(invalidType(path, given, `${path} in body must be of type ${wanted}: "${given}"`))
  }
}
