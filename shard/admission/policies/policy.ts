import type { KubeObject } from '../../../framework/object.ts'
import { admissionEnvironment } from '../../../openapi/cel/admission.ts'
import { compileExpression, type Expression } from '../../../openapi/cel/compiled.ts'
import type { Environment, StructInfo } from '../../../openapi/cel/environment.ts'
import { dynType, type Type } from '../../../openapi/cel/type.ts'
import type { ClaimSelector } from '../../conversion/claims.ts'
import type { MatchResources } from './matching.ts'

interface Validation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
}

interface Mutation {
  readonly patchType: string
  readonly applyConfiguration?: { readonly expression?: string }
  readonly jsonPatch?: { readonly expression?: string }
}

interface Condition {
  readonly name: string
  readonly expression: string
}

/** What validating and mutating policies say. */
export interface PolicySpec {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string }
  readonly matchConstraints?: MatchResources
  readonly matchConditions?: readonly Condition[]
  readonly variables?: readonly Condition[]
  readonly validations?: readonly Validation[]
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[]
  readonly mutations?: readonly Mutation[]
  readonly failurePolicy?: 'Fail' | 'Ignore'
}

export interface BindingSpec {
  readonly policyName?: string
  readonly paramRef?: {
    readonly name?: string
    readonly namespace?: string
    readonly selector?: ClaimSelector
    readonly parameterNotFoundAction?: 'Allow' | 'Deny'
  }
  readonly matchResources?: MatchResources
  readonly validationActions?: readonly string[]
}

/** A policy with its expressions compiled. */
export interface Policy {
  readonly name: string
  readonly spec: PolicySpec
  readonly variables: ReadonlyMap<string, Expression>
  readonly conditions: readonly Expression[]
  readonly validations: readonly {
    readonly validation: Validation
    readonly expression: Expression
    readonly message: Expression | undefined
  }[]
  readonly annotations: readonly { readonly key: string; readonly expression: Expression }[]
  readonly mutations: readonly { readonly type: string; readonly expression: Expression }[]
}

/** Compiles a ValidatingAdmissionPolicy or a MutatingAdmissionPolicy. `struct`: object types that changes are made of. */
export function compilePolicy(
  { metadata, spec: given }: KubeObject,
  struct?: (name: string) => StructInfo | undefined,
): Policy {
  const spec = (given ?? {}) as PolicySpec
  const params = spec.paramKind !== undefined
  const { variables, environment } = compileVariables(spec.variables ?? [], params, struct)
  const plain = admissionEnvironment({ params, variables: new Map() })
  return {
    name: metadata.name ?? '',
    spec,
    variables,
    conditions: (spec.matchConditions ?? []).map(({ expression }) =>
      compileExpression(expression, plain, ['bool']),
    ),
    validations: (spec.validations ?? []).map(validation => ({
      validation,
      expression: compileExpression(validation.expression, environment, ['bool']),
      message: validation.messageExpression
        ? compileExpression(validation.messageExpression, environment, ['string'])
        : undefined,
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: compileExpression(valueExpression, environment, ['string', 'null', 'dyn']),
    })),
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => ({
      type: patchType,
      expression: compileExpression(
        (patchType === 'JSONPatch' ? jsonPatch : applyConfiguration)?.expression ?? '',
        environment,
        patchType === 'JSONPatch' ? ['list'] : ['struct'],
      ),
    })),
  }
}

interface Compiled {
  readonly variables: ReadonlyMap<string, Expression>
  readonly environment: Environment
}

/** Each variable may use those before it. */
function compileVariables(
  wanted: readonly Condition[],
  params: boolean,
  struct: ((name: string) => StructInfo | undefined) | undefined,
): Compiled {
  const types = new Map<string, Type>()
  const variables = new Map<string, Expression>()
  const more = struct === undefined ? {} : { struct }
  const environment = admissionEnvironment({ params, variables: types, ...more })
  for (const { name, expression } of wanted) {
    const compiled = compileExpression(expression, environment)
    variables.set(name, compiled)
    types.set(name, compiled.type ?? dynType)
  }
  return { variables, environment }
}
