import type { OpenAPIV3 } from 'openapi-types'
import type { ApiResource } from '../../framework/contract/apis.ts'
import { type Steps, Work } from '../../framework/json/json.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

/** A reference to a component. */
export type SchemaReference = JSONSchemaProps & Readonly<OpenAPIV3.ReferenceObject>

/** The `x-kubernetes-group-version-kind` of a component or operation. */
export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A schema with its kinds. */
export interface Component extends JSONSchemaProps {
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
  readonly 'x-kubernetes-selectable-fields'?: readonly { readonly fieldPath: string }[]
}

/** Components by model name. */
export type Components = Readonly<Record<string, Component>>

export const schemaPrefix = '#/components/schemas/'

export const reference = (model: string): SchemaReference => ({ $ref: `${schemaPrefix}${model}` })

/** A reference with a description. OpenAPI 3.0 ignores siblings of `$ref`, so that it needs a wrapper (rules.md 8.22). */
export const described = (description: string, model: string): JSONSchemaProps => ({
  description,
  allOf: [reference(model)],
})

/** Replaces each direct child of a schema with the result of `change`. */
export function* mapChildren(
  schema: JSONSchemaProps,
  change: (child: JSONSchemaProps) => Steps<JSONSchemaProps>,
): Steps<JSONSchemaProps> {
  const { properties, items, additionalProperties } = schema
  return {
    ...schema,
    ...(properties !== undefined && { properties: yield* mapProperties(properties, change) }),
    ...(items !== undefined && { items: yield* change(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: yield* change(additionalProperties),
    }),
  }
}

function* mapProperties(
  properties: Readonly<Record<string, JSONSchemaProps>>,
  change: (child: JSONSchemaProps) => Steps<JSONSchemaProps>,
): Steps<Readonly<Record<string, JSONSchemaProps>>> {
  const changed: [string, JSONSchemaProps][] = []
  for (const name of Object.keys(properties))
    changed.push([name, yield* change(properties[name] as JSONSchemaProps)])
  return Object.fromEntries(changed)
}

export const mapValues = <A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Readonly<Record<string, B>> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))

/** The models that a part of a document references at any depth. */
export function* referencedModels(value: unknown): Steps<ReadonlySet<string>> {
  const work = new Work()
  const found = new Set<string>()
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    if (work.isStepDone()) yield
    const next = pending.pop()
    if (typeof next !== 'object' || next === null) continue
    if ('$ref' in next && typeof next.$ref === 'string') found.add(next.$ref.slice(schemaPrefix.length))
    for (const child of Object.values(next)) pending.push(child)
  }
  return found
}

/** Model names of `meta/v1` types. */
export const meta = (kind: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`
export const versionModel = 'io.k8s.apimachinery.pkg.version.Info'

// Models of built-in kinds are named after their Go package.
const packages: Readonly<Record<string, string>> = {
  '': 'io.k8s.api.core',
  'apiextensions.k8s.io': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
}
const goPackage = (group: string): string => packages[group] ?? `io.k8s.api.${group.split('.')[0]}`

export const builtinModel = (group: string, version: string, kind: string): string =>
  `${goPackage(group)}.${version}.${kind}`

/** The model name of a kind (rules.md 8.22). */
export function modelName({ group, version, custom }: ApiResource, kind: string): string {
  if (!custom) return builtinModel(group, version, kind)
  const reversed = group === '' ? 'core' : group.split('.').reverse().join('.')
  return `${reversed}.${version}.${kind}`
}

const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** `CoreV1`, `RbacAuthorizationV1`, `ExampleComV1`: a group version inside an operation id. */
export function operationScope(group: string, version: string): string {
  const labels = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return [...labels, version].map(label => titled(label.replace(/[^A-Za-z0-9]/g, ''))).join('')
}

/** `core_v1`: the tag of the operations of a group version. */
export const operationTag = (group: string, version: string): string =>
  [operationScope(group, '').replace(/^./, first => first.toLowerCase()), version]
    .filter(part => part !== '')
    .join('_')

/** The root of a group's URLs. */
export const groupPath = (group: string): string => (group === '' ? 'api' : `apis/${group}`)
/** The path of a group version in the index of documents. */
export const versionPath = (group: string, version: string): string => `${groupPath(group)}/${version}`
