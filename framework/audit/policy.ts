import type { RequestInfo } from '../request/requestinfo.ts'
import type { UserInfo } from '../request/user.ts'

/** The levels; each records all that the previous one does. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const
export type AuditLevel = (typeof auditLevels)[number]

export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const
export type AuditStage = (typeof auditStages)[number]

/** One rule of an `audit.k8s.io/v1` Policy. An absent field matches everything. */
export interface AuditRule {
  readonly level: AuditLevel
  readonly users?: readonly string[]
  readonly userGroups?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resources?: readonly GroupResources[]
  /** The empty string matches cluster-scoped resources. */
  readonly namespaces?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly omitStages?: readonly AuditStage[]
  readonly omitManagedFields?: boolean
}

/** Resources of one group: `pods`, `pods/log`, `pods/*`, `*`/`log`; all resources if absent. */
export interface GroupResources {
  readonly group?: string
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** An `audit.k8s.io/v1` Policy: the first matching rule decides; without one, nothing is recorded. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[]
  readonly omitStages?: readonly AuditStage[]
  readonly omitManagedFields?: boolean
}

/** What the policy requires for one request. */
export interface AuditRequirements {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** The first matching rule decides. */
export function requirementsFor(policy: AuditPolicy, user: UserInfo, info: RequestInfo): AuditRequirements {
  const rule = policy.rules.find(each => matches(each, user, info))
  return {
    level: rule?.level ?? 'None',
    omitStages: new Set([...(policy.omitStages ?? []), ...(rule?.omitStages ?? [])]),
    omitManagedFields: rule?.omitManagedFields ?? policy.omitManagedFields ?? false,
  }
}

const names = (list: readonly string[] | undefined, value: string): boolean =>
  list === undefined || list.length === 0 || list.includes(value)

function matches(rule: AuditRule, user: UserInfo, info: RequestInfo): boolean {
  const groups = rule.userGroups ?? []
  if (!names(rule.users, user.name) || !names(rule.verbs, info.verb)) return false
  if (groups.length > 0 && !groups.some(group => user.groups.includes(group))) return false
  if (rule.namespaces?.length || rule.resources?.length) return matchesResource(rule, info)
  if (rule.nonResourceURLs?.length)
    return !info.isResource && rule.nonResourceURLs.some(url => matchesPath(url, info.path))
  return true
}

function matchesResource({ namespaces, resources = [] }: AuditRule, info: RequestInfo): boolean {
  if (!info.isResource || !names(namespaces, info.namespace)) return false
  if (resources.length === 0) return true
  const { group, resource, subresource, name } = info
  return resources
    .filter(each => (each.group ?? '') === group)
    .some(
      each =>
        (each.resources ?? []).length === 0 ||
        (names(each.resourceNames, name) &&
          each.resources?.some(pattern => matchesPattern(pattern, resource, subresource))),
    )
}

function matchesPattern(pattern: string, resource: string, subresource: string): boolean {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  if (pattern === '*' || pattern === whole || pattern === `${resource}/*`) return true
  return subresource !== '' && pattern === `*/${subresource}`
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')))
