import type { RequestContext } from '../../../framework/context.ts'
import type { KubeObject } from '../../../framework/object.ts'
import { matchesLabels } from '../../../framework/selectors.ts'
import { requirementsOf } from '../../claims/selector.ts'
import type { ClaimSelector } from '../../conversion/claims.ts'
import type { ShardAdmissionRequest } from '../chain.ts'
import type { NamespaceLookup } from '../namespace-lifecycle.ts'

/** `RuleWithOperations`, and `NamedRuleWithOperations` of policies. */
export interface Rule {
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly operations?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  readonly resourceNames?: readonly string[]
}

export interface Selectors {
  readonly namespaceSelector?: ClaimSelector
  readonly objectSelector?: ClaimSelector
  readonly matchPolicy?: string
}

/** `MatchResources` of policies and their bindings. */
export interface MatchResources extends Selectors {
  readonly resourceRules?: readonly Rule[]
  readonly excludeResourceRules?: readonly Rule[]
}

/** A write and where it happens. */
export interface Subject {
  readonly ctx: RequestContext
  readonly request: ShardAdmissionRequest
  readonly namespaceOf: NamespaceLookup
}

const includes = (list: readonly string[] | undefined, value: string): boolean =>
  list?.some(entry => entry === '*' || entry === value) ?? false

/** Resources are given as `pods`, `pods/status` or `pods/*`; any part may be a star. */
function coversResource(rule: Rule, { resource, subresource }: ShardAdmissionRequest): boolean {
  return (rule.resources ?? []).some(entry => {
    const [wanted, sub = ''] = entry.split('/', 2)
    return (wanted === '*' || wanted === resource) && (sub === '*' || sub === subresource)
  })
}

/** The version that the client used; the stored one of what was not its request. */
export function versionOf({ ctx: { info }, request }: Subject): string {
  if (info.isResource && info.resource === request.resource && info.group === request.group)
    return info.version
  return (request.object ?? request.old)?.apiVersion.replace(/^.*\//, '') ?? ''
}

/** Whether a rule speaks of the write. Where equivalent requests count, so does every version of the resource. */
export function matchesRule(rule: Rule, subject: Subject, matchPolicy: string | undefined): boolean {
  const { request } = subject
  const { scope = '*', resourceNames = [] } = rule
  const isNamespaced = request.key.namespace !== ''
  return (
    includes(rule.operations, request.operation) &&
    includes(rule.apiGroups, request.group) &&
    coversResource(rule, request) &&
    (matchPolicy !== 'Exact' || includes(rule.apiVersions, versionOf(subject))) &&
    (scope === '*' || (scope === 'Namespaced') === isNamespaced) &&
    (resourceNames.length === 0 || resourceNames.includes(request.key.name))
  )
}

const isEmpty = ({ matchLabels = {}, matchExpressions = [] }: ClaimSelector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0

const selects = (selector: ClaimSelector, object: KubeObject | undefined): boolean =>
  object !== undefined && matchesLabels(requirementsOf(selector), object.metadata.labels ?? {})

/** Whether the namespace of the write, or the namespace that is written, and the object have the labels. */
export function matchesSelectors(
  { namespaceSelector, objectSelector }: Selectors,
  subject: Subject,
): boolean {
  const { request, namespaceOf } = subject
  const { object, old, key } = request
  if (objectSelector !== undefined && !isEmpty(objectSelector))
    if (!selects(objectSelector, object) && !selects(objectSelector, old)) return false
  if (namespaceSelector === undefined || isEmpty(namespaceSelector)) return true
  if (request.group === '' && request.resource === 'namespaces')
    return selects(namespaceSelector, object ?? old)
  return key.namespace === '' || selects(namespaceSelector, namespaceOf(key.cluster, key.namespace))
}

export function matchesResources(match: MatchResources | undefined, subject: Subject): boolean {
  if (match === undefined) return true
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  if (!matchesSelectors(match, subject)) return false
  if (excludeResourceRules.some(rule => matchesRule(rule, subject, matchPolicy))) return false
  return resourceRules.length === 0 || resourceRules.some(rule => matchesRule(rule, subject, matchPolicy))
}
