import { type Environment, environment } from '../../cel/checker/environment.ts'
import { adaptDynamic } from '../../cel/schema/adapt.ts'
import { declarationOf, type RootDeclaration } from '../../cel/schema/schematype.ts'
import { dynType } from '../../cel/values/type.ts'
import type { CelValue, TypeAdapter } from '../../cel/values/value.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { wholeSchema } from '../../framework/meta/objectmeta.ts'

type Texts = Readonly<Record<string, string>>

/** The variable `cluster`: the logical cluster of an object, and labels and annotations of its workspace. */
export interface ClusterFacts {
  readonly name: string
  /** `root:org:team`; '' if it is unknown. */
  readonly path: string
  readonly labels: Texts
  readonly annotations: Texts
}

/** The variable `user`: the user of the request. */
export interface UserFacts {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

const text: JSONSchemaProps = { type: 'string' }
const texts: JSONSchemaProps = { type: 'array', items: text }
const mapOf = (additionalProperties: JSONSchemaProps): JSONSchemaProps => ({
  type: 'object',
  additionalProperties,
})
const struct = (properties: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps => ({
  type: 'object',
  properties,
})

function declared(schema: JSONSchemaProps, name: string): RootDeclaration {
  const declaration = declarationOf(schema, false, name)
  if (declaration === undefined) throw new Error(`${name} cannot be declared`)
  return declaration
}

const cluster = declared(
  struct({ name: text, path: text, labels: mapOf(text), annotations: mapOf(text) }),
  'Cluster',
)
const user = declared(struct({ name: text, uid: text, groups: texts, extra: mapOf(texts) }), 'User')

/** The variables of the expressions of a View, in the order of `names`, and the types of one kind. */
export interface ViewVariables {
  readonly environment: Environment
  /** The value of `object`. Its labels and annotations are never absent. */
  readonly object: (object: KubeObject) => CelValue
}

export const variableNames = ['object', 'cluster', 'user'] as const

export const clusterValue = (facts: ClusterFacts): CelValue => cluster.adapt(facts)
export const userValue = (facts: UserFacts): CelValue => user.adapt(facts)

/** The variables for objects of a kind. `openapi`: the schema of the kind. */
export function viewVariables(openapi: Readonly<Record<string, unknown>>, kind: string): ViewVariables {
  const object = declarationOf(wholeSchema(openapi) as JSONSchemaProps, false, kind)
  const adapt: TypeAdapter = object?.adapt ?? adaptDynamic
  return {
    environment: environment(
      { object: object?.type ?? dynType, cluster: cluster.type, user: user.type },
      name => object?.struct(name) ?? cluster.struct(name) ?? user.struct(name),
    ),
    object: raw => adapt(withMaps(raw)),
  }
}

const withMaps = (object: KubeObject): KubeObject => {
  const { labels = {}, annotations = {} } = object.metadata
  return { ...object, metadata: { ...object.metadata, labels, annotations } }
}
