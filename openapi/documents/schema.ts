import type { OpenAPIV3 } from 'openapi-types'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** A schema as documents have it: nodes may point at components. */
export type SchemaReference = JSONSchemaProps & Readonly<OpenAPIV3.ReferenceObject>

/** Which kind a component or an operation is about: `x-kubernetes-group-version-kind`. */
export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A component: a schema that says which kinds it describes. */
export interface Component extends JSONSchemaProps {
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
  readonly 'x-kubernetes-selectable-fields'?: readonly { readonly fieldPath: string }[]
}

/** Components by model name. */
export type Components = Readonly<Record<string, Component>>

export const schemaPrefix = '#/components/schemas/'

export const reference = (model: string): SchemaReference => ({ $ref: `${schemaPrefix}${model}` })

/** OpenAPI 3.0 ignores what stands beside a `$ref`: a description needs a wrapper (chapter 40, rule 8.22). */
export const described = (description: string, model: string): JSONSchemaProps => ({
  description,
  allOf: [reference(model)],
})

/** Every schema that is directly inside a schema, replaced by what `change` makes of it. */
export function mapChildren(
  schema: JSONSchemaProps,
  change: (child: JSONSchemaProps) => JSONSchemaProps,
): JSONSchemaProps {
  const { properties, items, additionalProperties } = schema
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: mapValues(properties, change) }),
    ...(items === undefined ? {} : { items: change(items) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: change(additionalProperties) }
      : {}),
  }
}

export const mapValues = <A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Readonly<Record<string, B>> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))

/** The models that a part of a document points at, however deep. */
export function referencedModels(value: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next !== 'object' || next === null) continue
    if ('$ref' in next && typeof next.$ref === 'string') found.add(next.$ref.slice(schemaPrefix.length))
    pending.push(...Object.values(next))
  }
  return found
}
