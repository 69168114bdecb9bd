import { atOnce, type Steps, Work } from '../../framework/json/json.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { gnosticDefinition, gnosticDocument, gnosticPath } from './gnostic.ts'
import type { Operation, OperationParameter } from './operations.ts'
import type { PathItem } from './paths.ts'
import { type DocumentInfo, type Format, memberOf, members } from './render.ts'
import { type Component, mapChildren, mapValues, schemaPrefix } from './schema.ts'

type Json = Readonly<Record<string, unknown>>

/** A Swagger 2.0 document of all served resources (rules.md 8.18). */
export interface DocumentV2 {
  readonly swagger: '2.0'
  readonly info: DocumentInfo
  readonly paths: Readonly<Record<string, Json>>
  readonly definitions: Readonly<Record<string, Json>>
}

const pointer = ($ref: unknown): string => `#/definitions/${String($ref).slice(schemaPrefix.length)}`

/** The reference of a node, possibly in a wrapper with a description. */
function referenceOf(schema: JSONSchemaProps): string | undefined {
  if ('$ref' in schema) return pointer(schema.$ref)
  const [only, ...more] = schema.allOf ?? []
  return only !== undefined && more.length === 0 && '$ref' in only ? pointer(only.$ref) : undefined
}

/**
 * Converts a schema to Swagger 2.0, which has no alternatives and no nulls, and whose clients fail on `properties` of an
 * open object. Constraints that cannot be expressed are left out.
 */
function* schemaV2(schema: JSONSchemaProps, work: Work): Steps<JSONSchemaProps> {
  if (work.isStepDone()) yield
  const $ref = referenceOf(schema)
  const { allOf, anyOf, oneOf, not, nullable, ...rest } = schema
  if ($ref !== undefined) {
    const { default: _, ...beside } = rest
    return { ...beside, $ref } as JSONSchemaProps
  }
  const { required = [], properties = {} } = rest
  // Clients validate before the server applies defaults.
  const needed = required.filter(name => properties[name]?.default === undefined)
  const closed = needed.length === required.length ? rest : { ...rest, required: needed }
  const isOpen = nullable === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  if (isOpen) return openSchema(rest, nullable === true)
  return yield* mapChildren(closed, child => schemaV2(child, work))
}

/** A schema that is small: that of a common field, or a reference. */
const referenceV2 = (schema: JSONSchemaProps): JSONSchemaProps => atOnce(schemaV2(schema, new Work()))

function openSchema(schema: JSONSchemaProps, isNullable: boolean): JSONSchemaProps {
  const { properties, items, additionalProperties, required, type, ...rest } = schema
  return isNullable || type === undefined ? rest : { ...rest, type }
}

/** The schema of an object keeps its type and metadata, even if it has no other properties. */
function* definitionV2(component: Component): Steps<Json> {
  const { properties = {} } = component
  const converted = yield* schemaV2(component, new Work())
  if (converted.properties !== undefined || component['x-kubernetes-group-version-kind'] === undefined)
    return { ...converted }
  const { apiVersion, kind, metadata } = properties
  const own = Object.entries({ apiVersion, kind, metadata }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, referenceV2(value)] as const],
  )
  return own.length === 0 ? { ...converted } : { ...converted, properties: Object.fromEntries(own) }
}

const parameterV2 = ({ schema, ...parameter }: OperationParameter): Json => ({ ...parameter, ...schema })

const schemaOf = (content: Readonly<Record<string, { readonly schema: JSONSchemaProps }>>): JSONSchemaProps =>
  referenceV2(Object.values(content)[0]?.schema ?? {})

function bodyParameter(body: NonNullable<Operation['requestBody']>): Json {
  const required = body.required === true ? { required: true } : {}
  return { name: 'body', in: 'body', ...required, schema: schemaOf(body.content) }
}

function operationV2(operation: Operation): Json {
  const { parameters = [], requestBody, responses, ...rest } = operation
  const body = requestBody === undefined ? [] : [bodyParameter(requestBody)]
  const all = [...body, ...parameters.map(parameterV2)]
  return {
    ...rest,
    consumes: requestBody === undefined ? ['*/*'] : Object.keys(requestBody.content),
    produces: Object.keys(responses['200']?.content ?? {}),
    schemes: ['https'],
    ...(all.length === 0 ? {} : { parameters: all }),
    responses: mapValues(responses, ({ description, content }) =>
      content === undefined ? { description } : { description, schema: schemaOf(content) },
    ),
  }
}

function pathV2({ parameters, ...operations }: PathItem): Json {
  const converted = mapValues(operations, operation =>
    operation === undefined ? {} : operationV2(operation),
  )
  return parameters === undefined ? converted : { ...converted, parameters: parameters.map(parameterV2) }
}

/** Swagger 2.0 in JSON. */
export const swaggerJson: Format = {
  path: (name, item) => memberOf(name, pathV2(item)),
  *schema(name, model) {
    return yield* memberOf(name, yield* definitionV2(model))
  },
  document: (info, paths, schemas) => [
    `{"swagger":"2.0","info":${JSON.stringify(info)},"paths":{`,
    ...members(paths),
    '},"definitions":{',
    ...members(schemas),
    '}}',
  ],
}

/** Swagger 2.0 in protobuf. */
export const swaggerProtobuf: Format = {
  path: (name, item) => gnosticPath(name, pathV2(item)),
  *schema(name, model) {
    return yield* gnosticDefinition(name, yield* definitionV2(model))
  },
  document: gnosticDocument,
}
