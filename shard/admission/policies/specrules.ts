import type { FieldError } from '../../../framework/meta/errors.ts'
import {
  forbidden,
  invalidValue,
  repeated,
  required,
  unsupported,
} from '../../../framework/meta/fielderror.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import type { MatchResources, Rule } from './matching.ts'
import type { BindingSpec, Mutation, PolicySpec, Validation } from './policy.ts'
import { conditionErrors, oneOf, operations, ruleErrors } from './rulechecks.ts'

// What policies and their bindings must say, besides expressions that compile.

/** What is deleted is not changed any more. */
const changingOperations = operations.filter(operation => operation !== 'DELETE')

function resourceErrors(match: MatchResources, path: string): readonly FieldError[] {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  return [
    ...oneOf(`${path}.matchPolicy`, matchPolicy, ['Equivalent', 'Exact']),
    ...resourceRules.flatMap((rule, i) => ruleErrors(rule, `${path}.resourceRules[${i}]`)),
    ...excludeResourceRules.flatMap((rule, i) => ruleErrors(rule, `${path}.excludeResourceRules[${i}]`)),
  ]
}

const deletions = (rules: readonly Rule[] = [], path: string): readonly FieldError[] =>
  rules
    .flatMap(rule => rule.operations ?? [])
    .flatMap(operation => oneOf(path, operation, changingOperations))

function commonErrors({
  failurePolicy,
  paramKind,
  matchConstraints,
  matchConditions,
}: PolicySpec): readonly FieldError[] {
  const constraints = 'spec.matchConstraints'
  const missing = (name: 'apiVersion' | 'kind'): readonly FieldError[] =>
    paramKind === undefined || paramKind[name] ? [] : [required(`spec.paramKind.${name}`)]
  return [
    ...oneOf('spec.failurePolicy', failurePolicy, ['Fail', 'Ignore']),
    ...missing('apiVersion'),
    ...missing('kind'),
    ...(matchConstraints === undefined
      ? [required(constraints)]
      : resourceErrors(matchConstraints, constraints)),
    ...(matchConstraints !== undefined && !matchConstraints.resourceRules?.length
      ? [required(`${constraints}.resourceRules`)]
      : []),
    ...conditionErrors(matchConditions, 'spec.matchConditions'),
  ]
}

function validatingErrors(spec: PolicySpec): readonly FieldError[] {
  const { validations = [], auditAnnotations = [] } = spec
  const text = 'validations or auditAnnotations must contain at least one item'
  if (validations.length + auditAnnotations.length === 0)
    return [required('spec.validations', text), required('spec.auditAnnotations', text)]
  const keys = auditAnnotations.map(({ key }) => key)
  return [
    ...validations.flatMap((validation, i) => validationErrors(validation, `spec.validations[${i}]`)),
    ...repeated(keys, i => `spec.auditAnnotations[${i}].key`),
  ]
}

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

function mutatingErrors({
  matchConstraints,
  mutations,
  reinvocationPolicy,
}: PolicySpec): readonly FieldError[] {
  const path = 'spec.mutations'
  return [
    ...deletions(matchConstraints?.resourceRules, 'spec.matchConstraints.resourceRules.operations'),
    ...(mutations?.length ? [] : [required(path, 'mutations must contain at least one item')]),
    ...(mutations ?? []).flatMap((mutation, i) => mutationErrors(mutation, `${path}[${i}]`)),
    ...oneOf('spec.reinvocationPolicy', reinvocationPolicy, ['IfNeeded', 'Never']),
  ]
}

const fieldOf = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const

/** The member that the type names, and no other. */
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

/** What is wrong with a policy as such. */
export function policyErrors({ kind, spec: given }: KubeObject): readonly FieldError[] {
  const spec = (given ?? {}) as PolicySpec
  return [
    ...commonErrors(spec),
    ...(kind === 'MutatingAdmissionPolicy' ? mutatingErrors(spec) : validatingErrors(spec)),
  ]
}

/** What is wrong with a binding. */
export function bindingErrors({ kind, spec: given }: KubeObject): readonly FieldError[] {
  const { policyName, paramRef, matchResources, validationActions } = (given ?? {}) as BindingSpec
  const isMutating = kind === 'MutatingAdmissionPolicyBinding'
  return [
    ...(policyName ? [] : [required('spec.policyName')]),
    ...(paramRef === undefined ? [] : paramErrors(paramRef)),
    ...(matchResources === undefined ? [] : resourceErrors(matchResources, 'spec.matchResources')),
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
