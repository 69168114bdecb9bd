import type { ResourceNames } from '../../../framework/contract/apis.ts'
import type { JSONSchemaProps } from '../../../framework/meta/jsonschema.ts'
import type { KindDefinition, KindVersion } from '../definition.ts'

/** What differs between built-in kinds: all of them have one version, v1. */
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

/** `spec` and `status` are structs in Go: they are there also when they are empty, and nobody brings them into existence. */
function withStructs(schema: JSONSchemaProps): JSONSchemaProps {
  const structs = ['spec', 'status'].flatMap(name => {
    const property = schema.properties?.[name]
    return property?.type === 'object' ? [[name, { default: {}, ...property }]] : []
  })
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(structs) } }
}

const zeros: Readonly<Record<string, unknown>> = { object: {}, string: '', integer: 0, boolean: false }

/** Go reads null in a list or a map as the zero value of its type, and publishes that as its default. */
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
  const zero = schema.format === undefined ? zeros[schema.type ?? ''] : undefined
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
