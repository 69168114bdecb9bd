import { knownUser } from '../../../authz/index.ts'
import { type AdmissionAttributes, requestedName } from '../../../framework/contract/admission.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import type { UserInfo } from '../../../framework/request/user.ts'
import { matchesLabels } from '../../../framework/selectors/selectors.ts'

import { type MetaV1LabelSelector, requirementsOf } from '../../../kcp/selector.ts'

import type { NamespaceLookup } from '../kubernetes/namespace-lifecycle.ts'

/** `RuleWithOperations`, and `NamedRuleWithOperations` of policies. */
export interface Rule {
  readonly apiGroups?: readonly string[]
  readonly apiVersions?: readonly string[]
  readonly operations?: readonly string[]
  readonly resources?: readonly string[]
  readonly scope?: string
  readonly resourceNames?: readonly string[]
}

export interface MatchSelectors {
  readonly namespaceSelector?: MetaV1LabelSelector
  readonly objectSelector?: MetaV1LabelSelector
  readonly matchPolicy?: string
}

/** `MatchResources` of policies and their bindings. */
export interface MatchResources extends MatchSelectors {
  readonly resourceRules?: readonly Rule[]
  readonly excludeResourceRules?: readonly Rule[]
}

/** A request and the namespaces of its logical cluster. */
export interface Subject {
  readonly ctx: RequestContext
  readonly request: AdmissionAttributes
  /** The user as the logical cluster of the policies or webhooks knows it. */
  readonly user: UserInfo
  readonly namespaceOf: NamespaceLookup
  /** The version of the rule; that of the client by default. */
  readonly version?: string
}

/** The write, for the policies or webhooks of a logical cluster. */
export const subjectFor = (
  cluster: ClusterName,
  ctx: RequestContext,
  request: AdmissionAttributes,
  namespaceOf: NamespaceLookup,
): Subject => ({ ctx, request, user: knownUser(ctx.actAs, cluster), namespaceOf })

const includes = (list: readonly string[] | undefined, value: string): boolean =>
  list?.some(entry => entry === '*' || entry === value) ?? false

/** Resources are `pods`, `pods/status` or `pods/*`; each part may be `*`. */
function coversResource(rule: Rule, { resource, subresource }: AdmissionAttributes): boolean {
  return (rule.resources ?? []).some(entry => {
    const [wanted, sub = ''] = entry.split('/', 2)
    return (wanted === '*' || wanted === resource) && (sub === '*' || sub === subresource)
  })
}

/** Whether a rule matches the request in this version. */
function matchesRule(rule: Rule, { request }: Subject, version: string): boolean {
  const { scope = '*', resourceNames = [] } = rule
  const isNamespaced = request.key.namespace !== ''
  return (
    includes(rule.operations, request.operation) &&
    includes(rule.apiGroups, request.group) &&
    coversResource(rule, request) &&
    includes(rule.apiVersions, version) &&
    (scope === '*' || (scope === 'Namespaced') === isNamespaced) &&
    (resourceNames.length === 0 || resourceNames.includes(requestedName(request)))
  )
}

/**
 * The version in which rules match a request: the client's, or with the match policy `Equivalent` the first one
 * that a rule names; undefined: no match.
 */
export function matchedVersion(
  rules: readonly Rule[],
  subject: Subject,
  matchPolicy: string | undefined,
): string | undefined {
  const { version, versions } = subject.request
  const speaksOf = (rule: Rule, of: string): boolean => matchesRule(rule, subject, of)
  if (rules.some(rule => speaksOf(rule, version))) return version
  if (matchPolicy === 'Exact') return undefined
  return rules
    .map(rule => versions.served.find(other => other !== version && speaksOf(rule, other)))
    .find(found => found !== undefined)
}

/** The request with its objects in one version. Throws the errors of the conversion. */
export async function subjectIn(subject: Subject, version: string): Promise<Subject> {
  const { object, old, versions } = subject.request
  const request = {
    ...subject.request,
    ...(object && { object: await versions.convert(object, version) }),
    ...(old && { old: await versions.convert(old, version) }),
  }
  return { ...subject, request, version }
}

const isEmpty = ({ matchLabels = {}, matchExpressions = [] }: MetaV1LabelSelector): boolean =>
  Object.keys(matchLabels).length === 0 && matchExpressions.length === 0

const selects = (selector: MetaV1LabelSelector, object: KubeObject | undefined): boolean =>
  object !== undefined && matchesLabels(requirementsOf(selector), object.metadata.labels ?? {})

/**
 * Whether the namespace of the request (or the namespace that is the object) and the object match the selectors.
 */
export function matchesSelectors(
  { namespaceSelector, objectSelector }: MatchSelectors,
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

/** The version in which the resources match; undefined: no match. */
export function matchesResources(match: MatchResources | undefined, subject: Subject): string | undefined {
  const { version } = subject.request
  if (match === undefined) return version
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  if (!matchesSelectors(match, subject)) return undefined
  if (matchedVersion(excludeResourceRules, subject, matchPolicy) !== undefined) return undefined
  return resourceRules.length === 0 ? version : matchedVersion(resourceRules, subject, matchPolicy)
}
