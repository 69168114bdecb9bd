import { LRUCache } from 'lru-cache'
import { type Environment, environment } from '../../cel/checker/environment.ts'
import { adaptDynamic } from '../../cel/schema/adapt.ts'
import { declarationSteps, type RootDeclaration, requiredDeclaration } from '../../cel/schema/schematype.ts'
import { dynType } from '../../cel/values/type.ts'
import type { CelValue, TypeAdapter } from '../../cel/values/value.ts'
import { atOnce } from '../../framework/json/json.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { wholeSchema } from '../../framework/meta/objectmeta.ts'
import { hashSteps, lengthOf } from '../nodes/schemahash.ts'
import { type ExpressionParams, paramsSchema } from './params.ts'

type Texts = Readonly<Record<string, string>>

/** The variable `cluster`: the logical cluster of an object, and labels and annotations of its workspace. */
export interface ClusterFacts {
  readonly name: string
  /** `root:org:team`; '' if it is unknown. */
  readonly path: string
  /** undefined: the workspace is not known, such as one of another shard. Expressions that read them fail. */
  readonly labels?: Texts
  readonly annotations?: Texts
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

// Kinds cannot have these names of types.
const cluster = requiredDeclaration(
  struct({ name: text, path: text, labels: mapOf(text), annotations: mapOf(text) }),
  '$cluster',
)
const user = requiredDeclaration(
  struct({ name: text, uid: text, groups: texts, extra: mapOf(texts) }),
  '$user',
)

/** The variables of the expressions of a View, in the order of `names`, and the types of one kind. */
export interface ViewVariables {
  readonly environment: Environment
  /** The value of `object`. Its labels and annotations are never absent. */
  readonly object: (object: KubeObject) => CelValue
  /** undefined: there is no variable `params`. */
  readonly params: CelValue | undefined
}

export const variableNames = ['object', 'cluster', 'user', 'params'] as const

export const clusterValue = (facts: ClusterFacts): CelValue => cluster.adapt(facts)
export const userValue = (facts: UserFacts): CelValue => user.adapt(facts)

/** What the variables are declared for. `openapi`: the schema of the kind. */
interface DeclaredFor {
  readonly openapi: Readonly<Record<string, unknown>>
  readonly kind: string
  readonly params?: ExpressionParams
}

/** Characters of the schemas whose declarations are kept: some 64 MiB of types. */
const mostCharacters = 8 * 1024 * 1024

interface Declared {
  /** undefined: the type is dynamic. */
  readonly object: RootDeclaration | undefined
}

/** The declarations that were used last, by kind and content of the schema. All expressions about a kind share one. */
const declared = new LRUCache<string, Declared>({ maxSize: mostCharacters })

/** Declares the objects of a kind in steps. undefined: the type is dynamic. */
export function* objectSteps({ openapi, kind }: DeclaredFor): Generator<void, RootDeclaration | undefined> {
  const key = kind + (yield* hashSteps(openapi))
  const known = declared.get(key)
  if (known !== undefined) return known.object
  const object = yield* declarationSteps(wholeSchema(openapi) as JSONSchemaProps, kind)
  declared.set(key, { object }, { size: lengthOf(openapi) })
  return object
}

/** The variables for objects of a kind. */
export function viewVariables(declaredFor: DeclaredFor): ViewVariables {
  const { params } = declaredFor
  const object = atOnce(objectSteps(declaredFor))
  const adapt: TypeAdapter = object?.adapt ?? adaptDynamic
  const given = params && requiredDeclaration(paramsSchema(params), '$params')
  const types = { object: object?.type ?? dynType, cluster: cluster.type, user: user.type }
  return {
    environment: environment(
      { ...types, ...(given && { params: given.type }) },
      name => cluster.struct(name) ?? user.struct(name) ?? given?.struct(name) ?? object?.struct(name),
    ),
    object: raw => adapt(withMaps(raw)),
    params: given?.adapt(params),
  }
}

const withMaps = (object: KubeObject): KubeObject => {
  const { labels = {}, annotations = {} } = object.metadata
  return { ...object, metadata: { ...object.metadata, labels, annotations } }
}
