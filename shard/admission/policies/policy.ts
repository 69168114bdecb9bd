import type { Environment } from '../../../cel/checker/environment.ts'
import { type CompiledExpression, compileExpression } from '../../../cel/compiled.ts'
import { boolType, type CelType, dynType, nullType, stringType } from '../../../cel/values/type.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { MetaV1LabelSelector } from '../../../kcp/selector.ts'
import {
  type AdmissionVariables,
  admissionEnvironment,
  objectType,
  patchesType,
} from '../../../openapi/expressions/admission.ts'
import type { MatchResources } from './matching.ts'

export interface Validation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

export interface Mutation {
  readonly patchType: string
  readonly applyConfiguration?: { readonly expression?: string }
  readonly jsonPatch?: { readonly expression?: string }
}

interface Condition {
  readonly name: string
  readonly expression: string
}

/** The spec of validating and mutating policies. */
export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string }
  readonly matchConstraints?: MatchResources
  readonly matchConditions?: readonly Condition[]
  readonly variables?: readonly Condition[]
  readonly validations?: readonly Validation[]
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[]
  readonly mutations?: readonly Mutation[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded'
}

export interface BindingSpec {
  readonly policyName?: string
  readonly paramRef?: {
    readonly name?: string
    readonly namespace?: string
    readonly selector?: MetaV1LabelSelector
    readonly parameterNotFoundAction?: 'Allow' | 'Deny'
  }
  readonly matchResources?: MatchResources
  readonly validationActions?: readonly string[]
}

export interface CompiledMutation {
  readonly type: string
  /** The field path of the expression. */
  readonly path: string
  readonly expression: CompiledExpression
}

/** A policy with its expressions compiled. */
export interface Policy {
  readonly name: string
  readonly spec: PolicySpec
  readonly variables: ReadonlyMap<string, CompiledExpression>
  readonly conditions: readonly CompiledExpression[]
  readonly validations: readonly {
    readonly validation: Validation
    readonly expression: CompiledExpression
    readonly message: CompiledExpression | undefined
  }[]
  readonly annotations: readonly { readonly key: string; readonly expression: CompiledExpression }[]
  readonly mutations: readonly CompiledMutation[]
}

/** Compiles a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy, in steps. */
export function* compilePolicy({ metadata, spec: given }: KubeObject): Generator<void, Policy> {
  const spec = (given ?? {}) as PolicySpec
  const params = spec.paramKind !== undefined
  const { variables, types } = yield* compileVariables(spec.variables ?? [], params)
  const environment = admissionEnvironment({ params, variables: types })
  const changing = admissionEnvironment({ params, variables: types, changes: true })
  const plain = admissionEnvironment({ params, variables: new Map() })
  const mutations = yield* each(spec.mutations, (mutation, i) =>
    compileMutation(mutation, `spec.mutations[${i}]`, changing),
  )
  return {
    name: metadata.name ?? '',
    spec,
    variables,
    conditions: yield* each(spec.matchConditions, ({ expression }) =>
      compileExpression(expression, plain, [boolType]),
    ),
    validations: yield* compileValidations(spec.validations, environment, { params, variables: types }),
    annotations: yield* each(spec.auditAnnotations, function* ({ key, valueExpression }) {
      return { key, expression: yield* compileExpression(valueExpression, environment, annotationTypes) }
    }),
    mutations: mutations.flat(),
  }
}

const annotationTypes = [stringType, nullType]

/** Compiles items one after the other. */
export function* each<T, R>(
  items: readonly T[] = [],
  compile: (item: T, index: number) => Generator<void, R>,
): Generator<void, readonly R[]> {
  const compiled: R[] = []
  for (const item of items) {
    compiled.push(yield* compile(item, compiled.length))
    yield
  }
  return compiled
}

function* compileValidations(
  validations: PolicySpec['validations'],
  environment: Environment,
  variables: Pick<AdmissionVariables, 'params' | 'variables'>,
): Generator<void, Policy['validations']> {
  const unasking = admissionEnvironment({ ...variables, authorizer: false })
  const expressions = yield* each(validations, ({ expression }) =>
    compileExpression(expression, environment, [boolType]),
  )
  const messages = yield* each(validations, function* ({ messageExpression }) {
    return messageExpression ? yield* compileExpression(messageExpression, unasking, [stringType]) : undefined
  })
  return expressions.map((expression, i) => ({
    validation: validations?.[i] as Validation,
    expression,
    message: messages[i],
  }))
}

/** Skips mutations without the field of their type: validation rejects them. */
function* compileMutation(
  { patchType, applyConfiguration, jsonPatch }: Mutation,
  path: string,
  environment: Environment,
): Generator<void, readonly CompiledMutation[]> {
  const isPatch = patchType === 'JSONPatch'
  const [member, change] = isPatch ? ['jsonPatch', jsonPatch] : ['applyConfiguration', applyConfiguration]
  if (change === undefined) return []
  const expression = yield* compileExpression(change.expression ?? '', environment, [
    isPatch ? patchesType : objectType,
  ])
  return [{ type: patchType, path: `${path}.${member}.expression`, expression }]
}

interface Compiled {
  readonly variables: ReadonlyMap<string, CompiledExpression>
  readonly types: ReadonlyMap<string, CelType>
}

/** Each variable may use those before it. */
function* compileVariables(wanted: readonly Condition[], params: boolean): Generator<void, Compiled> {
  const types = new Map<string, CelType>()
  const variables = new Map<string, CompiledExpression>()
  const environment = admissionEnvironment({ params, variables: types })
  for (const { name, expression } of wanted) {
    const compiled = yield* compileExpression(expression, environment)
    variables.set(name, compiled)
    types.set(name, compiled.type ?? dynType)
    yield
  }
  return { variables, types }
}
