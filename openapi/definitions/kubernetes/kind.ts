import type { ResourceNames } from '../../../framework/contract/apis.ts'
import { isObject, type JsonObject } from '../../../framework/json/values.ts'
import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { KindDefinition, KindVersion } from '../definition.ts'

/** A built-in kind. Its only version is v1. */
export interface BuiltinKind extends Pick<KindVersion, 'schema' | 'columns' | 'selectableFields'> {
  readonly group: string
  readonly kind: string
  /** The kind in lower case with an `s` unless given. */
  readonly plural?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly namespaced?: boolean
  readonly status?: boolean
}

export function builtin(of: BuiltinKind): KindDefinition {
  const { group, columns, selectableFields, namespaced = false, status = false } = of
  const schema = withZeros(withStructs(of.schema))
  const fields = selectableFields === undefined ? {} : { selectableFields }
  return {
    group,
    names: namesOf(of),
    namespaced,
    versions: [{ name: 'v1', served: true, storage: true, schema, columns, status, ...fields }],
  }
}

/** `spec` and `status` are Go structs, which are present even if they are empty. */
function withStructs(schema: JSONSchemaProps): JSONSchemaProps {
  const structs = ['spec', 'status'].flatMap(name => {
    const property = schema.properties?.[name]
    return property?.type === 'object' ? [[name, { default: {}, ...property }]] : []
  })
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(structs) } }
}

const zeros: Readonly<Record<string, unknown>> = { object: {}, string: '', integer: 0, boolean: false }

/** Go decodes null in a list or map as the zero value of the item, which is also the published default. */
function withZeros(schema: JSONSchemaProps): JSONSchemaProps {
  const { properties = {}, items, additionalProperties: values } = schema
  const below = Object.entries(properties).map(([name, property]) => [name, withZeros(property)])
  return {
    ...schema,
    ...(below.length === 0 ? {} : { properties: Object.fromEntries(below) }),
    ...(items === undefined ? {} : { items: zeroed(items) }),
    ...(typeof values === 'object' ? { additionalProperties: zeroed(values) } : {}),
  }
}

function zeroed(schema: JSONSchemaProps): JSONSchemaProps {
  const { format, type = '' } = schema
  const zero = format === undefined || format === 'byte' ? zeros[type] : undefined
  return { ...(zero === undefined ? {} : { default: zero }), ...withZeros(schema) }
}

function namesOf({ kind, plural, shortNames, categories }: BuiltinKind): ResourceNames {
  const singular = kind.toLowerCase()
  return {
    kind,
    listKind: `${kind}List`,
    singular,
    plural: plural ?? `${singular}s`,
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
  }
}

/** Removes empty lists and maps from a value; undefined for an empty one. Returns the same value if nothing is removed. */
type Omit = (value: unknown) => unknown

/**
 * Removes empty lists and maps from objects of built-in kinds, as Go does for fields with `omitempty`. Structs and
 * nullable lists stay.
 */
export function omittingEmpty(schema: JSONSchemaProps): (object: KubeObject) => KubeObject {
  const omit = omitMembers(schema)
  return object => omit(object) as KubeObject
}

function omitOf(schema: JSONSchemaProps): Omit {
  if (schema.type === 'array') return omitList(schema)
  if (schema.type !== 'object') return value => value
  if (schema.properties !== undefined) return omitMembers(schema)
  return schema.additionalProperties === undefined
    ? value => value
    : value => (isObject(value) && Object.keys(value).length === 0 ? undefined : value)
}

function omitList({ items = {}, nullable }: JSONSchemaProps): Omit {
  const omit = omitOf(items)
  return value => {
    if (!Array.isArray(value)) return value
    if (value.length === 0) return nullable === true ? value : undefined
    const next = value.map(item => omit(item) ?? item)
    return next.every((item, i) => item === value[i]) ? value : next
  }
}

function omitMembers({ properties = {} }: JSONSchemaProps): Omit {
  const omits = Object.entries(properties).map(([key, property]) => [key, omitOf(property)] as const)
  return value => {
    if (!isObject(value)) return value
    let result: JsonObject = value
    for (const [key, omit] of omits) {
      const next = omit(value[key])
      if (next === value[key]) continue
      const { [key]: _, ...others } = result
      result = next === undefined ? others : { ...others, [key]: next }
    }
    return result
  }
}
