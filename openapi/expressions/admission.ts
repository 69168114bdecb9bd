import { type Environment, environment, type StructInfo } from '../../cel/checker/environment.ts'
import { authorizerType, resourceCheckType } from '../../cel/library/authorizer.ts'
import { standardDeclarations, standardLibrary } from '../../cel/library/index.ts'
import { adaptDynamic } from '../../cel/schema/adapt.ts'
import { type RootDeclaration, requiredDeclaration } from '../../cel/schema/schematype.ts'
import { declare, functionsOf, overload } from '../../cel/values/declaration.ts'
import { type FieldView, ObjectView } from '../../cel/values/maps.ts'
import { type CelType, dynType, listOf, stringType, structType } from '../../cel/values/type.ts'
import { type CelValue, isList, isMap, itemsOf, StructValue } from '../../cel/values/value.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

const text: JSONSchemaProps = { type: 'string' }
const object = (properties: Readonly<Record<string, JSONSchemaProps>>): JSONSchemaProps => ({
  type: 'object',
  properties,
})
const list = (items: JSONSchemaProps): JSONSchemaProps => ({ type: 'array', items })
const map = (additionalProperties: JSONSchemaProps): JSONSchemaProps => ({
  type: 'object',
  additionalProperties,
})
const time: JSONSchemaProps = { type: 'string', format: 'date-time' }
const integer: JSONSchemaProps = { type: 'integer' }

const kind = object({ group: text, version: text, kind: text })
const resource = object({ group: text, version: text, resource: text })

/** The variable `request`: an AdmissionRequest without its objects, which have their own variables. */
const requestSchema = object({
  kind,
  resource,
  subResource: text,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: text,
  name: text,
  namespace: text,
  operation: text,
  userInfo: object({ username: text, uid: text, groups: list(text), extra: map(list(text)) }),
  dryRun: { type: 'boolean' },
})

/** The options of the request, of any shape. */
const optionsField = 'options'

/** The variable `namespaceObject`: the fields of a Namespace that expressions can access. */
const namespaceSchema = object({
  metadata: object({
    name: text,
    generateName: text,
    namespace: text,
    labels: map(text),
    annotations: map(text),
    UID: text,
    creationTimestamp: time,
    deletionGracePeriodSeconds: integer,
    deletionTimestamp: time,
    generation: integer,
    resourceVersion: text,
    finalizers: list(text),
  }),
  spec: object({ finalizers: list(text) }),
  status: object({
    conditions: list(
      object({ status: text, type: text, lastTransitionTime: time, message: text, reason: text }),
    ),
    phase: text,
  }),
})

/** `namespace` is a reserved word in the schemas of CustomResourceDefinitions only. */
const sameName = (field: string): string => field

const requestFields = requiredDeclaration(requestSchema, 'kubernetes.AdmissionAttributes', sameName)
export const requestDeclaration: Pick<RootDeclaration, 'type' | 'adapt' | 'struct'> = {
  type: requestFields.type,
  adapt(raw) {
    const view = requestFields.adapt(raw)
    if (!(view instanceof ObjectView)) return view
    const own: FieldView = { key: optionsField, adapt: adaptDynamic }
    return new ObjectView(view.raw, new Map([...view.fields, [optionsField, own]]))
  },
  struct(name) {
    const info = requestFields.struct(name)
    if (info === undefined || name !== requestFields.type.name) return info
    return { field: field => (field === optionsField ? dynType : info.field(field)) }
  },
}
export const namespaceDeclaration = requiredDeclaration(namespaceSchema, 'kubernetes.Namespace', sameName)

const variablesType = structType('kubernetes.variables')

/** The variables of the expressions of a policy. */
export interface AdmissionVariables {
  readonly params: boolean
  /** The types of the variables of the policy, by name. */
  readonly variables: ReadonlyMap<string, CelType>
  /** The types of `object`, `oldObject` and `params`, if known. */
  readonly object?: RootDeclaration
  readonly parameters?: RootDeclaration
  /** Whether expressions can use the authorizer. */
  readonly authorizer?: boolean
  /** Whether expressions can construct `Object{…}` and `JSONPatch{…}`. */
  readonly changes?: boolean
}

/** The environment of an admission expression. */
export function admissionEnvironment({
  params,
  variables,
  object,
  parameters,
  authorizer = true,
  changes,
}: AdmissionVariables): Environment {
  const own: StructInfo = { field: name => variables.get(name) }
  return environment(
    {
      object: object?.type ?? dynType,
      oldObject: object?.type ?? dynType,
      request: requestDeclaration.type,
      namespaceObject: namespaceDeclaration.type,
      variables: variablesType,
      ...(params ? { params: parameters?.type ?? dynType } : {}),
      ...(authorizer ? { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType } : {}),
    },
    name =>
      name === variablesType.name
        ? own
        : (requestDeclaration.struct(name) ??
          namespaceDeclaration.struct(name) ??
          object?.struct(name) ??
          parameters?.struct(name) ??
          (changes === true ? mutationStruct(name) : undefined)),
    changes === true ? mutationLibrary : standardLibrary,
  )
}

// The types of mutations: `Object{…}` and `JSONPatch{…}` (KEP-3962).

export const objectType = structType('Object')
export const patchType = structType('JSONPatch')
export const patchesType = listOf(patchType)

const patchFields: ReadonlyMap<string, CelType> = new Map([
  ['op', stringType],
  ['path', stringType],
  ['from', stringType],
  ['value', dynType],
])

const patchStruct: StructInfo = { constructible: true, field: name => patchFields.get(name) }
/** Policies are compiled without a schema: fields are checked when they are merged. */
const objectStruct: StructInfo = { constructible: true, field: () => dynType }

/** `Object` and its nested types, named by path: `Object.spec.template`. */
function mutationStruct(name: string): StructInfo | undefined {
  if (name === patchType.name) return patchStruct
  return name === objectType.name || name.startsWith(`${objectType.name}.`) ? objectStruct : undefined
}

const escapeKey = declare(
  'jsonpatch.escapeKey',
  overload('string_jsonpatch_escapeKey_string', [stringType], stringType, ([key]) =>
    String(key).replaceAll('~', '~0').replaceAll('/', '~1'),
  ),
)

const mutationLibrary = functionsOf([...standardDeclarations, escapeKey])

/** Errors for objects whose type name is not their field path: `Object{spec: Object.status{}}`. */
export const misnamed = (value: StructValue): readonly string[] => mismatches(value, value.type)

function mismatches(value: CelValue, expected: string): readonly string[] {
  if (isList(value)) return [...itemsOf(value)].flatMap(item => mismatches(item, expected))
  if (isMap(value)) return value.keys().flatMap(key => mismatches(value.get(key) ?? null, expected))
  if (!(value instanceof StructValue)) return []
  const text = `unexpected type name ${JSON.stringify(value.type)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`
  const own = value.type === expected ? [] : [text]
  return [...own, ...[...value.fields].flatMap(([name, field]) => mismatches(field, `${expected}.${name}`))]
}
