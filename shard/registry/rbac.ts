import { isDeepStrictEqual } from 'node:util'
import type { FieldError } from '../../framework/meta/errors.ts'
import { invalidValue, required, tooMany, unsupported } from '../../framework/meta/fielderror.ts'
import { dns1123SubdomainErrors, pathSegmentErrors } from '../../framework/meta/names.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { type MetaV1LabelSelector, selectorErrors } from '../../kcp/selector.ts'

const group = 'rbac.authorization.k8s.io'

interface Rule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** Where the permissions of a role or binding apply. */
type Scope = 'namespace' | 'cluster'

interface Aggregation {
  readonly clusterRoleSelectors?: readonly MetaV1LabelSelector[]
}

const isEmpty = (list: readonly unknown[] | undefined): boolean => (list?.length ?? 0) === 0

/** `ValidatePolicyRule` of Kubernetes. */
function ruleErrors(rule: Rule, scope: Scope, path: string): readonly FieldError[] {
  const verbs = isEmpty(rule.verbs)
    ? [required(`${path}.verbs`, 'verbs must contain at least one value')]
    : []
  if (!isEmpty(rule.nonResourceURLs)) return [...verbs, ...urlErrors(rule, scope, path)]
  const groups = 'resource rules must supply at least one api group'
  const resources = 'resource rules must supply at least one resource'
  return [
    ...verbs,
    ...(isEmpty(rule.apiGroups) ? [required(`${path}.apiGroups`, groups)] : []),
    ...(isEmpty(rule.resources) ? [required(`${path}.resources`, resources)] : []),
  ]
}

function urlErrors(rule: Rule, scope: Scope, path: string): readonly FieldError[] {
  const refuse = (detail: string) => invalidValue(`${path}.nonResourceURLs`, rule.nonResourceURLs, detail)
  const mixed = ![rule.apiGroups, rule.resources, rule.resourceNames].every(isEmpty)
  return [
    ...(scope === 'namespace' ? [refuse('namespaced rules cannot apply to non-resource URLs')] : []),
    ...(mixed ? [refuse('rules cannot apply to both regular resources and non-resource URLs')] : []),
  ]
}

/** All are put into an index in one step. Kubernetes has no limit but that of the bytes. */
const mostRules = 15_000

function rulesErrors(role: KubeObject, scope: Scope): readonly FieldError[] {
  const rules = (role.rules ?? []) as readonly Rule[]
  if (rules.length > mostRules) return [tooMany('rules', rules.length, mostRules)]
  return rules.flatMap((rule, i) => ruleErrors(rule, scope, `rules[${i}]`))
}

/** Kubernetes always writes `rules`: null for none. */
export const completeRole = (role: KubeObject): KubeObject =>
  role.rules === undefined ? { ...role, rules: null } : role

/** Empty rules are stored as null. */
export const prepareRole = (role: KubeObject): KubeObject =>
  Array.isArray(role.rules) && role.rules.length > 0 ? role : { ...role, rules: null }

export const roleErrors = (role: KubeObject): readonly FieldError[] => rulesErrors(role, 'namespace')

export function clusterRoleErrors(role: KubeObject): readonly FieldError[] {
  const aggregation = role.aggregationRule as Aggregation | undefined
  const rules = rulesErrors(role, 'cluster')
  if (aggregation === undefined) return rules
  const path = 'aggregationRule.clusterRoleSelectors'
  const { clusterRoleSelectors: selectors = [] } = aggregation
  const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil'
  if (selectors.length === 0) return [...rules, required(path, detail)]
  return [...rules, ...selectors.flatMap((selector, i) => aggregationErrors(selector, `${path}[${i}]`))]
}

function aggregationErrors(selector: MetaV1LabelSelector, path: string): readonly FieldError[] {
  const errors = selectorErrors(selector, path)
  return errors.length === 0 ? errors : [...errors, invalidValue(path, null, 'invalid label selector.')]
}

interface Subject {
  readonly kind?: string
  readonly apiGroup?: string
  readonly name?: string
  readonly namespace?: string
}

interface Binding {
  readonly roleRef?: { readonly apiGroup?: string; readonly kind?: string; readonly name?: string }
  readonly subjects?: readonly Subject[]
}

/** Defaults the apiGroup of subjects and roleRef to the RBAC group. */
export function completeBinding(object: KubeObject): KubeObject {
  const { subjects = [], roleRef } = object as KubeObject & Binding
  const completed = subjects.map(subject =>
    subject.apiGroup || subject.kind === 'ServiceAccount' ? subject : { ...subject, apiGroup: group },
  )
  return {
    ...object,
    ...(completed.length === 0 ? {} : { subjects: completed }),
    ...(roleRef === undefined ? {} : { roleRef: { ...roleRef, apiGroup: roleRef.apiGroup || group } }),
  }
}

/** Kubernetes prints the fields with their names in Go. */
const inGo = ({ apiGroup = '', kind = '', name = '' }: Binding['roleRef'] = {}): object => ({
  APIGroup: apiGroup,
  Kind: kind,
  Name: name,
})

/** All are put into the index of permissions in one step. Kubernetes has no limit but that of the bytes. */
const mostSubjects = 5_000

const bindingErrorsFor =
  (kinds: readonly string[], scope: Scope) =>
  (object: KubeObject, old?: KubeObject): readonly FieldError[] => {
    const { roleRef, subjects = [] } = object as KubeObject & Binding
    const changed = old !== undefined && !isDeepStrictEqual(roleRef, old.roleRef)
    if (subjects.length > mostSubjects) return [tooMany('subjects', subjects.length, mostSubjects)]
    return [
      ...roleRefErrors(roleRef, kinds),
      ...subjects.flatMap((subject, i) => subjectErrors(subject, scope, `subjects[${i}]`)),
      ...(changed ? [invalidValue('roleRef', inGo(roleRef), 'cannot change roleRef')] : []),
    ]
  }

export const roleBindingErrors = bindingErrorsFor(['Role', 'ClusterRole'], 'namespace')
export const clusterRoleBindingErrors = bindingErrorsFor(['ClusterRole'], 'cluster')

function roleRefErrors(roleRef: Binding['roleRef'], kinds: readonly string[]): readonly FieldError[] {
  const { apiGroup = '', kind = '', name = '' } = roleRef ?? {}
  const names = pathSegmentErrors(name).map(detail => invalidValue('roleRef.name', name, detail))
  return [
    ...(apiGroup === group ? [] : [unsupported('roleRef.apiGroup', apiGroup, [group])]),
    ...(kinds.includes(kind) ? [] : [unsupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : names),
  ]
}

function subjectErrors(subject: Subject, scope: Scope, path: string): readonly FieldError[] {
  const { kind = '', apiGroup = '', name = '' } = subject
  const nameless = name === '' ? [required(`${path}.name`)] : []
  if (kind === 'ServiceAccount') return [...nameless, ...serviceAccountErrors(subject, scope, path)]
  if (kind !== 'User' && kind !== 'Group')
    return [...nameless, unsupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group'])]
  return apiGroup === group ? nameless : [...nameless, unsupported(`${path}.apiGroup`, apiGroup, [group])]
}

function serviceAccountErrors(
  { apiGroup = '', name = '', namespace = '' }: Subject,
  scope: Scope,
  path: string,
): readonly FieldError[] {
  const names = name === '' ? [] : dns1123SubdomainErrors(name)
  return [
    ...names.map(detail => invalidValue(`${path}.name`, name, detail)),
    ...(apiGroup === '' ? [] : [unsupported(`${path}.apiGroup`, apiGroup, [''])]),
    ...(scope === 'cluster' && namespace === '' ? [required(`${path}.namespace`)] : []),
  ]
}
