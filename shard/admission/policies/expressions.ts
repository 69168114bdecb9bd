import { type FieldError, invalid } from '../../../framework/errors.ts'
import type { Expression } from '../../../openapi/cel/compiled.ts'
import type { AdmissionPlugin, ShardAdmissionRequest } from '../chain.ts'
import { compilePolicy, type Policy } from './policy.ts'

const policies: ReadonlySet<string> = new Set(['validatingadmissionpolicies', 'mutatingadmissionpolicies'])

const isPolicy = ({ group, resource, subresource, operation }: ShardAdmissionRequest): boolean =>
  group === 'admissionregistration.k8s.io' &&
  policies.has(resource) &&
  subresource === '' &&
  operation !== 'DELETE'

/** Policies whose expressions do not compile are refused when they are written. */
export const policyExpressions: AdmissionPlugin = {
  name: 'PolicyExpressions',
  validate(_ctx, request) {
    const { object } = request
    if (object === undefined || !isPolicy(request)) return
    const errors = expressionErrors(compilePolicy(object))
    if (errors.length > 0) throw invalid(object.kind, request.group, object.metadata.name ?? '', errors)
  },
}

function expressionErrors(policy: Policy): readonly FieldError[] {
  const at = (path: string, expression: Expression | undefined): readonly FieldError[] =>
    expression?.problem === undefined
      ? []
      : [{ type: 'FieldValueInvalid', field: path, value: expression.source, detail: expression.problem }]
  return [
    ...[...policy.variables.values()].flatMap((v, i) => at(`spec.variables[${i}].expression`, v)),
    ...policy.conditions.flatMap((c, i) => at(`spec.matchConditions[${i}].expression`, c)),
    ...policy.validations.flatMap(({ expression, message }, i) => [
      ...at(`spec.validations[${i}].expression`, expression),
      ...at(`spec.validations[${i}].messageExpression`, message),
    ]),
    ...policy.annotations.flatMap(({ expression }, i) =>
      at(`spec.auditAnnotations[${i}].valueExpression`, expression),
    ),
  ]
}
