import type { Action } from '../../framework/contract/authorizer.ts'

/** `rules[]` of a Role or ClusterRole. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

/** Whether one rule allows one action (`RuleAllows` of `plugin/pkg/auth/authorizer/rbac`). */
export function ruleAllows(rule: PolicyRule, action: Action): boolean {
  if (!matches(rule.verbs, action.verb)) return false
  const { resource } = action
  if (resource === undefined)
    return (rule.nonResourceURLs ?? []).some(url => pathMatches(url, action.path ?? ''))
  return (
    matches(rule.apiGroups ?? [], resource.group) &&
    (rule.resources ?? []).some(r => resourceMatches(r, resource.resource, resource.subresource)) &&
    nameMatches(rule.resourceNames ?? [], resource.name)
  )
}

const matches = (allowed: readonly string[], wanted: string): boolean =>
  allowed.includes('*') || allowed.includes(wanted)

// `pods` is not `pods/log`, `*` is everything, `*/log` is that subresource of everything.
function resourceMatches(allowed: string, resource: string, subresource: string): boolean {
  if (allowed === '*') return true
  if (subresource === '') return allowed === resource
  return allowed === `${resource}/${subresource}` || allowed === `*/${subresource}`
}

const nameMatches = (allowed: readonly string[], name: string): boolean =>
  allowed.length === 0 || allowed.includes(name)

export const pathMatches = (allowed: string, path: string): boolean =>
  allowed === path || (allowed.endsWith('*') && path.startsWith(allowed.replace(/\*+$/, '')))
