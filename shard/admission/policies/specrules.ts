import { isDeepStrictEqual } from 'node:util'
import type { CompiledExpression } from '../../../cel/compiled.ts'
import { inTurns, Pace } from '../../../framework/async/awaitable.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { type FieldError, invalid } from '../../../framework/meta/errors.ts'
import { type ErrorSteps, itemErrors } from '../../../framework/meta/errorsteps.ts'
import {
  forbidden,
  invalidValue,
  repeated,
  required,
  unsupported,
} from '../../../framework/meta/fielderror.ts'
import { qualifiedNameErrors } from '../../../framework/meta/names.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { selectorErrors } from '../../../kcp/selector.ts'
import type { MatchResources, Rule } from './matching.ts'
import {
  type BindingSpec,
  compilePolicy,
  type Mutation,
  type Policy,
  type PolicySpec,
  type Validation,
} from './policy.ts'
import { conditionErrors, matchSelectorErrors, oneOf, operations, ruleErrors } from './rulechecks.ts'

// Validation of policies and bindings (`pkg/apis/admissionregistration/validation`).

/** Mutating policies cannot match DELETE. */
const changingOperations = operations.filter(operation => operation !== 'DELETE')

function* resourceErrors(match: MatchResources, path: string): ErrorSteps {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  const rulesAt = (rules: readonly Rule[], at: string): ErrorSteps =>
    itemErrors(rules, (rule, i) => ruleErrors(rule, `${at}[${i}]`))
  return [
    ...oneOf(`${path}.matchPolicy`, matchPolicy, ['Equivalent', 'Exact']),
    ...matchSelectorErrors(match, path),
    ...(yield* rulesAt(resourceRules, `${path}.resourceRules`)),
    ...(yield* rulesAt(excludeResourceRules, `${path}.excludeResourceRules`)),
  ]
}

const deletions = (rules: readonly Rule[] = [], path: string): readonly FieldError[] =>
  rules
    .flatMap(rule => rule.operations ?? [])
    .flatMap(operation => oneOf(path, operation, changingOperations))

function* commonErrors({
  failurePolicy,
  paramKind,
  matchConstraints,
  matchConditions,
}: PolicySpec): ErrorSteps {
  const constraints = 'spec.matchConstraints'
  const missing = (name: 'apiVersion' | 'kind'): readonly FieldError[] =>
    paramKind === undefined || paramKind[name] ? [] : [required(`spec.paramKind.${name}`)]
  return [
    ...oneOf('spec.failurePolicy', failurePolicy, ['Fail', 'Ignore']),
    ...missing('apiVersion'),
    ...missing('kind'),
    ...(matchConstraints === undefined
      ? [required(constraints)]
      : yield* resourceErrors(matchConstraints, constraints)),
    ...(matchConstraints !== undefined && !matchConstraints.resourceRules?.length
      ? [required(`${constraints}.resourceRules`)]
      : []),
    ...conditionErrors(matchConditions, 'spec.matchConditions'),
  ]
}

function* validatingErrors(spec: PolicySpec, name: string): ErrorSteps {
  const { validations = [], auditAnnotations = [] } = spec
  const text = 'validations or auditAnnotations must contain at least one item'
  if (validations.length + auditAnnotations.length === 0)
    return [required('spec.validations', text), required('spec.auditAnnotations', text)]
  const keys = auditAnnotations.map(({ key }) => key)
  const keyAt = (i: number): string => `spec.auditAnnotations[${i}].key`
  return [
    ...(yield* itemErrors(validations, (each, i) => validationErrors(each, `spec.validations[${i}]`))),
    ...keys.flatMap((key, i) => auditKeyErrors(`${name}/${key}`, keyAt(i))),
    ...repeated(keys, keyAt),
  ]
}

/** The key of an annotation in audit events, with the name of the policy. */
const auditKeyErrors = (key: string, path: string): readonly FieldError[] =>
  qualifiedNameErrors(key).map(problem => invalidValue(path, key, problem))

function validationErrors({ message = '', reason }: Validation, path: string): readonly FieldError[] {
  const text = message.trim()
  const blank = message !== '' && text === ''
  return [
    ...(blank ? [invalidValue(`${path}.message`, message, 'must be non-empty if specified')] : []),
    ...(/[\n\r]/.test(text)
      ? [invalidValue(`${path}.message`, message, 'must not contain line breaks')]
      : []),
    ...oneOf(`${path}.reason`, reason, ['Forbidden', 'Invalid', 'RequestEntityTooLarge']),
  ]
}

function* mutatingErrors({ matchConstraints, mutations, reinvocationPolicy }: PolicySpec): ErrorSteps {
  const path = 'spec.mutations'
  return [
    ...deletions(matchConstraints?.resourceRules, 'spec.matchConstraints.resourceRules.operations'),
    ...(mutations?.length ? [] : [required(path, 'mutations must contain at least one item')]),
    ...(yield* itemErrors(mutations ?? [], (mutation, i) => mutationErrors(mutation, `${path}[${i}]`))),
    ...oneOf('spec.reinvocationPolicy', reinvocationPolicy, ['IfNeeded', 'Never']),
  ]
}

const fieldOf = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const

/** Only the field of the type is allowed. */
function mutationErrors(mutation: Mutation, path: string): readonly FieldError[] {
  const { patchType } = mutation
  if (!patchType) return [required(`${path}.patchType`)]
  if (patchType !== 'JSONPatch' && patchType !== 'ApplyConfiguration')
    return [unsupported(`${path}.patchType`, patchType, Object.keys(fieldOf))]
  const [own, other] =
    patchType === 'JSONPatch'
      ? (['jsonPatch', 'applyConfiguration'] as const)
      : (['applyConfiguration', 'jsonPatch'] as const)
  const when = `be specified when patchType is ${patchType}`
  return [
    ...(mutation[own] === undefined ? [required(`${path}.${own}`, `must ${when}`)] : []),
    ...(mutation[other] === undefined
      ? []
      : [invalidValue(`${path}.${other}`, `{${other}}`, `must not ${when}`)]),
  ]
}

/** Errors of a policy. */
function* policyErrors(policy: KubeObject): ErrorSteps {
  const spec = (policy.spec ?? {}) as PolicySpec
  return [
    ...(yield* commonErrors(spec)),
    ...(yield* policy.kind === 'MutatingAdmissionPolicy'
      ? mutatingErrors(spec)
      : validatingErrors(spec, policy.metadata.name ?? '')),
    ...expressionErrors(yield* compilePolicy(policy)),
  ]
}

/** Errors of a binding. */
function* bindingErrors({ kind, spec: given }: KubeObject): ErrorSteps {
  const { policyName, paramRef, matchResources, validationActions } = (given ?? {}) as BindingSpec
  const isMutating = kind === 'MutatingAdmissionPolicyBinding'
  return [
    ...(policyName ? [] : [required('spec.policyName')]),
    ...(paramRef === undefined ? [] : paramErrors(paramRef)),
    ...(matchResources === undefined ? [] : yield* resourceErrors(matchResources, 'spec.matchResources')),
    ...(isMutating
      ? deletions(matchResources?.resourceRules, 'spec.matchResources.resourceRules.operations')
      : actionErrors(validationActions ?? [])),
  ]
}

function paramErrors(paramRef: NonNullable<BindingSpec['paramRef']>): readonly FieldError[] {
  const path = 'spec.paramRef'
  const { name, selector, parameterNotFoundAction } = paramRef
  const both = name !== undefined && selector !== undefined
  const only = 'name and selector are mutually exclusive'
  return [
    ...(selector === undefined ? [] : selectorErrors(selector, `${path}.selector`)),
    ...(both ? [forbidden(`${path}.name`, only), forbidden(`${path}.selector`, only)] : []),
    ...(name === undefined && selector === undefined
      ? [required(path, 'one of name or selector must be specified')]
      : []),
    ...oneOf(`${path}.parameterNotFoundAction`, parameterNotFoundAction, ['Deny', 'Allow']),
  ]
}

function actionErrors(actions: readonly string[]): readonly FieldError[] {
  const path = 'spec.validationActions'
  if (actions.length === 0) return [required(path, 'at least one validation action is required')]
  const twice =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
  const isTwice = actions.includes('Deny') && actions.includes('Warn')
  return [
    ...actions.flatMap((action, i) => oneOf(`${path}[${i}]`, action, ['Audit', 'Deny', 'Warn'])),
    ...(isTwice ? [invalidValue(path, actions, twice)] : []),
  ]
}

type Check = (object: KubeObject) => ErrorSteps

const checks: Readonly<Record<string, Check>> = {
  validatingadmissionpolicies: policyErrors,
  mutatingadmissionpolicies: policyErrors,
  validatingadmissionpolicybindings: bindingErrors,
  mutatingadmissionpolicybindings: bindingErrors,
}

const ownGroup = 'admissionregistration.k8s.io'

const checkOf = ({ group, resource, subresource }: AdmissionAttributes): Check | undefined =>
  group === ownGroup && subresource === '' ? checks[resource] : undefined

/** Validates policies, their expressions and their bindings. */
export const policyExpressions: AdmissionPlugin = {
  name: 'PolicyExpressions',
  handles: {
    operations: ['CREATE', 'UPDATE'],
    resources: Object.keys(checks).map(each => `${each}.${ownGroup}`),
  },
  async validate(_ctx, request) {
    const { object, operation } = request
    const check = checkOf(request)
    if (object === undefined || operation === 'DELETE' || check === undefined) return
    const found = await inTurns(check(object), new Pace())
    const errors = found.filter(({ field }) => !isForgiven(field, request))
    if (errors.length > 0) throw invalid(object.kind, request.group, object.metadata.name ?? '', errors)
  },
}

/** Unchanged match conditions with unchanged parameters are not validated again. */
function isForgiven(field: string, { object, old }: AdmissionAttributes): boolean {
  if (!field.startsWith('spec.matchConditions') || object === undefined || old === undefined) return false
  const given = (policy: KubeObject): unknown => {
    const { paramKind, matchConditions } = (policy.spec ?? {}) as PolicySpec
    return [paramKind, matchConditions]
  }
  return isDeepStrictEqual(given(object), given(old))
}

/** An empty expression is a missing value with the message `unsaid`. */
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
