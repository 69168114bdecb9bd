import { isDeepStrictEqual } from 'node:util'
import type { CompiledExpression } from '../../../cel/compiled.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { type FieldError, invalid } from '../../../framework/meta/errors.ts'
import { invalidValue, required } from '../../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { compilePolicy, type Policy, type PolicySpec } from './policy.ts'
import { bindingErrors, policyErrors } from './specrules.ts'

type Check = (object: KubeObject) => readonly FieldError[]

const checkPolicy: Check = object => [...policyErrors(object), ...expressionErrors(compilePolicy(object))]

const checks: Readonly<Record<string, Check>> = {
  validatingadmissionpolicies: checkPolicy,
  mutatingadmissionpolicies: checkPolicy,
  validatingadmissionpolicybindings: bindingErrors,
  mutatingadmissionpolicybindings: bindingErrors,
}

const ownGroup = 'admissionregistration.k8s.io'

const checkOf = ({ group, resource, subresource }: AdmissionAttributes): Check | undefined =>
  group === ownGroup && subresource === '' ? checks[resource] : undefined

/** Policies that say nothing, or whose expressions do not compile, are refused when they are written. */
export const policyExpressions: AdmissionPlugin = {
  name: 'PolicyExpressions',
  handles: {
    operations: ['CREATE', 'UPDATE'],
    resources: Object.keys(checks).map(each => `${each}.${ownGroup}`),
  },
  validate(_ctx, request) {
    const { object, operation } = request
    const check = checkOf(request)
    if (object === undefined || operation === 'DELETE' || check === undefined) return
    const errors = check(object).filter(({ field }) => !isForgiven(field, request))
    if (errors.length > 0) throw invalid(object.kind, request.group, object.metadata.name ?? '', errors)
  },
}

/** Conditions that an update leaves as they are, with the same parameters, are not looked at again. */
function isForgiven(field: string, { object, old }: AdmissionAttributes): boolean {
  if (!field.startsWith('spec.matchConditions') || object === undefined || old === undefined) return false
  const given = (policy: KubeObject): unknown => {
    const { paramKind, matchConditions } = (policy.spec ?? {}) as PolicySpec
    return [paramKind, matchConditions]
  }
  return isDeepStrictEqual(given(object), given(old))
}

/** An expression that is not there is missing; `unsaid` is said of it. */
function at(path: string, expression: CompiledExpression | undefined, unsaid = ''): readonly FieldError[] {
  if (expression?.problem === undefined) return []
  const { source, problem } = expression
  return [source.trim() === '' ? required(path, unsaid) : invalidValue(path, source, problem)]
}

const unspecified = 'expression is not specified'

function expressionErrors(policy: Policy): readonly FieldError[] {
  return [
    ...policy.conditions.flatMap((c, i) => at(`spec.matchConditions[${i}].expression`, c)),
    ...[...policy.variables.values()].flatMap((v, i) =>
      at(`spec.variables[${i}].expression`, v, unspecified),
    ),
    ...policy.validations.flatMap(({ expression, message }, i) => [
      ...at(`spec.validations[${i}].expression`, expression, unspecified),
      ...at(`spec.validations[${i}].messageExpression`, message),
    ]),
    ...policy.annotations.flatMap(({ expression }, i) =>
      at(`spec.auditAnnotations[${i}].valueExpression`, expression, 'valueExpression is not specified'),
    ),
    ...policy.mutations.flatMap(({ path, expression }) => at(path, expression)),
  ]
}
