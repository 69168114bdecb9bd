import type { ResourceNames } from '../../../framework/apis.ts'
import type { JSONSchemaProps } from '../../jsonschema.ts'
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
  const schema = withStructs(of.schema)
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
