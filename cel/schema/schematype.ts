import { atOnce, Work } from '../../framework/json/json.ts'
import { isObject } from '../../framework/json/values.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { StructInfo } from '../checker/environment.ts'
import { type FieldView, MapView, ObjectView } from '../values/maps.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  escapedName,
  intType,
  listOf,
  mapOf,
  stringType,
  structType,
  timestampType,
} from '../values/type.ts'
import { CelError, ListView, type TypeAdapter } from '../values/value.ts'
import {
  adaptBoolean,
  adaptInteger,
  adaptIntOrString,
  adaptNumber,
  adaptString,
  adaptUnknown,
  listKind,
} from './adapt.ts'
import { intOrStringSize, listMax, mapMax, stringSize } from './schemasize.ts'

/** The CEL declaration of a schema (rules.md 7.33). */
export interface SchemaDeclaration {
  readonly type: CelType
  readonly adapt: TypeAdapter
  /** The maximum number of items, keys or characters; 0 for other values. */
  readonly maxElements: number
  /** The minimum size in JSON, in bytes. */
  readonly minSize: number
  /** The fields of an object, by escaped name. */
  readonly fields?: ReadonlyMap<string, SchemaDeclaration>
  /** The items of a list, or the values of a map. */
  readonly items?: SchemaDeclaration
}

export interface RootDeclaration extends SchemaDeclaration {
  /** The object types in the schema, by name. */
  struct(name: string): StructInfo | undefined
  /** The number of declarations in it. */
  readonly count: number
  /** The declaration of a nested schema; undefined if expressions cannot access it. */
  of(schema: JSONSchemaProps): SchemaDeclaration | undefined
}

/** The name that expressions have for a field; undefined: they cannot access it. */
type Naming = (field: string) => string | undefined

interface Build {
  readonly nameOf: Naming
  readonly structs: Map<string, StructInfo>
  readonly declarations: Map<JSONSchemaProps, SchemaDeclaration>
  readonly work: Work
}

type Declaring = Generator<void, SchemaDeclaration | undefined>

/** Declares a schema and its nested schemas; undefined if expressions cannot access values of it. */
export const declarationOf = (schema: JSONSchemaProps, name?: string): RootDeclaration | undefined =>
  atOnce(declarationSteps(schema, name))

/**
 * The declaration of a schema of this program. Throws an `Error` if expressions cannot access values of it.
 *
 * @param nameOf the names of its fields; without it, those of the schemas of CustomResourceDefinitions
 */
export function requiredDeclaration(schema: JSONSchemaProps, name: string, nameOf?: Naming): RootDeclaration {
  const declaration = atOnce(declareRoot(schema, name, false, nameOf))
  if (declaration === undefined) throw new Error(`${name} cannot be declared`)
  return declaration
}

type DeclaringRoot = Generator<void, RootDeclaration | undefined>

/** `declarationOf`, in steps. */
export const declarationSteps = (schema: JSONSchemaProps, name = 'selfType'): DeclaringRoot =>
  declareRoot(schema, name, false)

/** The same for the schema of a resource: its values have apiVersion, kind and metadata. */
export const resourceDeclarationSteps = (schema: JSONSchemaProps): DeclaringRoot =>
  declareRoot(schema, 'selfType', true)

function* declareRoot(
  schema: JSONSchemaProps,
  name: string,
  isResource: boolean,
  nameOf: Naming = escapedName,
): DeclaringRoot {
  const build: Build = { nameOf, structs: new Map(), declarations: new Map(), work: new Work() }
  const declared = yield* declareSchema(build, schema, name, isResource)
  if (declared === undefined) return undefined
  return {
    ...declared,
    count: build.declarations.size,
    struct: wanted => build.structs.get(wanted),
    of: inner => build.declarations.get(inner),
  }
}

function* declareSchema(
  build: Build,
  schema: JSONSchemaProps,
  name: string,
  isResource = schema['x-kubernetes-embedded-resource'] === true,
): Declaring {
  const below = declareBelow(build, isResource ? withMetadata(schema) : schema, name)
  if (below === undefined) return declareLeaf(build, schema)
  const declared = yield* below
  if (declared !== undefined) build.declarations.set(schema, declared)
  if (build.work.isStepDone()) yield
  return declared
}

function declareLeaf(build: Build, schema: JSONSchemaProps): SchemaDeclaration | undefined {
  const declared = declareScalar(schema)
  if (declared !== undefined) build.declarations.set(schema, declared)
  return declared
}

const isLeaf = ({ type, 'x-kubernetes-int-or-string': isEither }: JSONSchemaProps): boolean =>
  isEither === true || (type !== 'array' && type !== 'object')

/** undefined: the schema has no schemas below it. */
function declareBelow(build: Build, schema: JSONSchemaProps, name: string): Declaring | undefined {
  if (isLeaf(schema)) return undefined
  if (schema.type === 'array') return declareList(build, schema, name)
  return isObject(schema.additionalProperties)
    ? declareMap(build, schema, schema.additionalProperties, name)
    : declareObject(build, schema, name)
}

function declareScalar(schema: JSONSchemaProps): SchemaDeclaration | undefined {
  if (schema['x-kubernetes-int-or-string'] === true)
    return { type: dynType, adapt: adaptIntOrString, ...intOrStringSize(schema) }
  switch (schema.type) {
    case 'string':
      return { type: stringFormat(schema), adapt: adaptString(schema), ...stringSize(schema) }
    case 'boolean':
      return { type: boolType, adapt: adaptBoolean, maxElements: 0, minSize: 4 }
    case 'number':
      return { type: doubleType, adapt: adaptNumber, maxElements: 0, minSize: 1 }
    case 'integer':
      return { type: intType, adapt: adaptInteger, maxElements: 0, minSize: 1 }
    default:
      return undefined
  }
}

const formatTypes: Readonly<Record<string, CelType>> = {
  byte: bytesType,
  duration: durationType,
  date: timestampType,
  'date-time': timestampType,
}

const stringFormat = ({ format = '' }: JSONSchemaProps): CelType =>
  Object.hasOwn(formatTypes, format) ? (formatTypes[format] ?? stringType) : stringType

function* declareList(build: Build, schema: JSONSchemaProps, name: string): Declaring {
  const items =
    schema.items === undefined ? undefined : yield* declareSchema(build, schema.items, `${name}.@idx`)
  if (items === undefined) return undefined
  const kind = listKind(schema)
  const adapt: TypeAdapter = raw =>
    Array.isArray(raw)
      ? new ListView(raw, items.adapt, kind)
      : raw === null
        ? null
        : new CelError('invalid data, expected an array for the provided schema with type=array')
  return { type: listOf(items.type), adapt, maxElements: listMax(schema, items.minSize), minSize: 2, items }
}

const notAnObject = new CelError('invalid data, expected a map for the provided schema with type=object')

function* declareMap(
  build: Build,
  schema: JSONSchemaProps,
  values: JSONSchemaProps,
  name: string,
): Declaring {
  const items = yield* declareSchema(build, values, `${name}.@elem`)
  if (items === undefined) return undefined
  const adapt: TypeAdapter = raw =>
    isObject(raw) ? new MapView(raw, items.adapt) : raw === null ? null : notAnObject
  const maxElements = mapMax(schema, items.minSize)
  return { type: mapOf(stringType, items.type), adapt, maxElements, minSize: 2, items }
}

function* declareObject(build: Build, schema: JSONSchemaProps, name: string): Declaring {
  const required = new Set(schema.required)
  const fields = new Map<string, SchemaDeclaration>()
  const views = new Map<string, FieldView>()
  let minSize = 2
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const escaped = build.nameOf(key)
    // Most properties are scalars, and a generator for each takes longer than the rest.
    const field = isLeaf(property)
      ? declareLeaf(build, property)
      : yield* declareSchema(build, property, `${name}.${escaped ?? key}`)
    if (build.work.isStepDone()) yield
    if (field === undefined) {
      if (escaped !== undefined) views.set(escaped, { key, adapt: adaptUnknown })
      continue
    }
    if (escaped !== undefined) {
      fields.set(escaped, field)
      views.set(escaped, { key, adapt: field.adapt })
    }
    const isAlways = required.has(key) && (property.default ?? null) === null
    if (isAlways) minSize += Buffer.byteLength(key) + field.minSize + 4
  }
  build.structs.set(name, { field: wanted => fields.get(wanted)?.type })
  const adapt: TypeAdapter = raw =>
    isObject(raw) ? new ObjectView(raw, views) : raw === null ? null : notAnObject
  return { type: structType(name), adapt, maxElements: 0, minSize, fields }
}

const text: JSONSchemaProps = { type: 'string' }

/** Expressions can only access name and generateName of the metadata of resources. */
const withMetadata = (schema: JSONSchemaProps): JSONSchemaProps => ({
  ...schema,
  properties: {
    ...schema.properties,
    kind: text,
    apiVersion: text,
    metadata: { type: 'object', properties: { name: text, generateName: text } },
  },
})
