import { type CompiledExpression, type CostBudget, OutOfBudget } from '../../../cel/compiled.ts'
import type { Replays } from '../../../cel/planner/replay.ts'
import { adaptDynamic } from '../../../cel/schema/adapt.ts'
import { newEffort } from '../../../cel/values/costtracker.ts'
import { CelError, type CelValue, type MapValue } from '../../../cel/values/value.ts'
import { requestedName } from '../../../framework/contract/admission.ts'
import { groupIn, type KubeObject, versionIn } from '../../../framework/meta/object.ts'
import { namespaceDeclaration, requestDeclaration } from '../../../openapi/expressions/admission.ts'
import type { Subject } from './matching.ts'
import { NestedValues } from './nestedvalues.ts'
import type { Policy } from './policy.ts'

export type Variables = Readonly<Record<string, CelValue>>

const requestBudget = 10_000_000
const conditionBudget = 2_500_000

/** `replays`: those of the evaluation that begins again. */
export const newAllowance = (replays: Replays): CostBudget => ({
  left: requestBudget,
  effort: newEffort(),
  replays,
})
const conditionAllowance = (replays: Replays): CostBudget => ({
  ...newAllowance(replays),
  left: conditionBudget,
})

const kindOf = ({ kind = '', apiVersion = '' }: Partial<KubeObject> = {}) => ({
  group: groupIn(apiVersion),
  version: versionIn(apiVersion),
  kind,
})

/**
 * The `request` of AdmissionReviews and expressions, without its objects: `kind` and `resource` are in the version
 * of the rule, `requestKind` and `requestResource` in that of the client. The kind of a scale subresource is Scale.
 */
export function requestOf(subject: Subject): Readonly<Record<string, unknown>> {
  const { user, request } = subject
  const kind = kindOf(request.object ?? request.old)
  const resourceIn = (version: string) => ({ group: request.group, version, resource: request.resource })
  const { namespace } = request.key
  const name = requestedName(request)
  return {
    kind,
    resource: resourceIn(subject.version ?? request.version),
    ...(request.subresource === '' ? {} : { subResource: request.subresource }),
    requestKind: kind.group === request.group ? { ...kind, version: request.version } : kind,
    requestResource: resourceIn(request.version),
    ...(request.subresource === '' ? {} : { requestSubResource: request.subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: request.operation,
    userInfo: {
      username: user.name,
      ...(user.uid === undefined ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(user.extra === undefined ? {} : { extra: user.extra }),
    },
    dryRun: request.dryRun,
    ...(request.options === undefined ? {} : { options: request.options }),
  }
}

/** The variables of one request, for all policies. */
export function requestVariables(subject: Subject): Variables {
  const { request, namespaceOf } = subject
  const { cluster, namespace } = request.key
  const isNamespace = request.group === '' && request.resource === 'namespaces'
  const found = namespace === '' || isNamespace ? undefined : namespaceOf(cluster, namespace)
  return {
    object: adaptDynamic(request.object),
    oldObject: adaptDynamic(request.old),
    request: requestDeclaration.adapt(requestOf(subject)),
    namespaceObject: found === undefined ? null : namespaceDeclaration.adapt(found),
  }
}

/** The policy's variables, each evaluated at its first use. */
export function withPolicyVariables(policy: Policy, variables: Variables, allowance: CostBudget): Variables {
  const evaluate = (name: string): CelValue | undefined => {
    const value = policy.variables.get(name)?.evaluate(all, allowance)
    const text = `composited variable "${name}" fails to evaluate: `
    return value instanceof CelError ? new CelError(text + value.message) : value
  }
  const values = new NestedValues(evaluate)
  const own: MapValue = {
    isMap: true,
    size: policy.variables.size,
    keys: () => [...policy.variables.keys()],
    get: name => values.of(String(name)),
  }
  const all: Variables = { ...variables, variables: own }
  return all
}

/** The value, or the error message of Kubernetes. Throws `Paused`. */
export function evaluated(
  expression: CompiledExpression,
  variables: Variables,
  allowance: CostBudget,
): { readonly value: CelValue } | { readonly error: string } {
  if (expression.problem !== undefined) return { error: `compilation error: ${expression.problem}` }
  try {
    const value = expression.evaluate(variables, allowance)
    if (!(value instanceof CelError)) return { value }
    return { error: `expression '${expression.source}' resulted in error: ${value.message}` }
  } catch (error) {
    if (error instanceof OutOfBudget) return { error: error.message }
    throw error
  }
}

/** Whether all conditions are true: a false condition decides, an error only when none is false. Throws `Paused`. */
export function conditionsHold(
  conditions: readonly CompiledExpression[],
  variables: Variables,
  replays: Replays,
): { readonly holds: boolean } | { readonly error: string } {
  const allowance = conditionAllowance(replays)
  const errors: string[] = []
  for (const condition of conditions) {
    const result = evaluated(condition, variables, allowance)
    if ('error' in result) errors.push(result.error)
    else if (result.value === false) return { holds: false }
  }
  if (errors.length === 0) return { holds: true }
  return { error: errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]` }
}

export const asVariable = (object: KubeObject | undefined): CelValue => adaptDynamic(object)
