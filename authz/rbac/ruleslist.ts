import { atOnce, Work } from '../../framework/json/json.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { effectiveUsers } from './effectiveusers.ts'
import { type PolicyRule, pathMatches } from './policyrule.ts'
import { clusterRoleRules, grants, roleRules, systemAdmin } from './rbac.ts'
import type { RbacSource } from './rbacsource.ts'

/** The rules of one role, by reference. `namespace` is where a Role is looked up. */
export interface RoleReference {
  readonly kind: 'ClusterRole' | 'Role'
  readonly name: string
  readonly namespace: string
}

/** All rules that a user holds in a cluster and, unless it is '', in a namespace, in steps. Duplicates are kept, as in kcp. */
export function* rulesSteps(
  source: RbacSource,
  user: UserInfo,
  cluster: ClusterName,
  namespace: string,
): Generator<void, readonly PolicyRule[]> {
  const users = effectiveUsers(user, cluster)
  const owners = cluster === systemAdmin ? [systemAdmin] : [systemAdmin, cluster]
  // A binding that names a user twice grants once.
  const known = new Set<object>()
  const all: PolicyRule[] = []
  const work = new Work()
  for (const owner of owners)
    for (const { binding, rules = [] } of grants(source, { users, cluster: owner, namespace })) {
      if (work.isStepDone()) yield
      if (known.has(binding)) continue
      known.add(binding)
      for (const rule of rules.flat()) {
        if (work.isStepDone()) yield
        all.push(rule)
      }
    }
  return all
}

/** undefined: no such role. */
export const rulesOfRole = (
  source: RbacSource,
  cluster: ClusterName,
  role: RoleReference,
): readonly PolicyRule[] | undefined =>
  (role.kind === 'ClusterRole'
    ? clusterRoleRules(source, cluster, role.name)
    : roleRules(source, cluster, role.namespace, role.name)
  )?.flat()

/** The limit of combinations of verbs, resources and names that are compared one by one. */
const mostAtoms = 10_000
/** The limit of comparisons of two words. */
const mostCompared = 100_000_000

/**
 * The rules of `wanted` that `held` does not cover, split into one verb, one resource and at most one name each. A
 * rule with too many combinations counts as covered only by a single rule.
 */
export const uncovered = (
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] => atOnce(uncoveredSteps(held, wanted))

/** What `uncovered` returns, in steps. */
export function* uncoveredSteps(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): Generator<void, readonly PolicyRule[]> {
  const weight = held.reduce((sum, rule) => sum + sizeOf(rule), 1)
  const left = { atoms: mostAtoms, compared: mostCompared }
  const work = new Work()
  const missing: PolicyRule[] = []
  for (const rule of wanted) {
    left.compared -= weight * sizeOf(rule)
    if (left.compared >= 0 && (yield* isCovered(held, rule, work))) continue
    const count = countOf(rule)
    left.atoms -= count
    left.compared -= weight * count
    if (left.atoms < 0 || left.compared < 0) missing.push(rule)
    else for (const atom of atoms(rule)) if (!(yield* isCovered(held, atom, work))) missing.push(atom)
  }
  return missing
}

function* isCovered(held: readonly PolicyRule[], wanted: PolicyRule, work: Work): Generator<void, boolean> {
  for (const rule of held) {
    if (covers(rule, wanted)) return true
    if (work.isStepDone()) yield
  }
  return false
}

const sizeOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  [verbs, apiGroups, resources, resourceNames, nonResourceURLs].reduce(
    (sum, words) => sum + (words?.length ?? 0),
    0,
  )

/** The number of combinations of a rule. */
function countOf(rule: PolicyRule): number {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const onResources = apiGroups.length * resources.length * Math.max(1, resourceNames.length)
  return verbs.length * (onResources + nonResourceURLs.length)
}

function atoms(rule: PolicyRule): readonly PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  const names: readonly (readonly string[])[] =
    resourceNames.length === 0 ? [[]] : resourceNames.map(name => [name])
  const onResources = apiGroups.flatMap(group =>
    resources.flatMap(resource =>
      verbs.flatMap(verb =>
        names.map(name => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames: name,
        })),
      ),
    ),
  )
  const onPaths = nonResourceURLs.flatMap(url =>
    verbs.map(verb => ({ verbs: [verb], nonResourceURLs: [url] })),
  )
  return [...onResources, ...onPaths]
}

/** Whether one held rule covers a combination. Wildcards are covered by wildcards only. */
function covers(held: PolicyRule, atom: PolicyRule): boolean {
  const names = held.resourceNames ?? []
  const wanted = atom.resourceNames ?? []
  return (
    all(held.verbs, atom.verbs) &&
    all(held.apiGroups ?? [], atom.apiGroups ?? []) &&
    (atom.resources ?? []).every(resource => coversResource(held.resources ?? [], resource)) &&
    (atom.nonResourceURLs ?? []).every(url =>
      (held.nonResourceURLs ?? []).some(allowed => pathMatches(allowed, url)),
    ) &&
    (names.length === 0 || (wanted.length > 0 && wanted.every(name => names.includes(name))))
  )
}

const all = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') || wanted.every(value => held.includes(value))

function coversResource(held: readonly string[], wanted: string): boolean {
  if (held.includes('*') || held.includes(wanted)) return true
  const slash = wanted.indexOf('/')
  return slash >= 0 && held.includes(`*${wanted.slice(slash)}`)
}

/** A rule as Kubernetes prints it in refusals: `{APIGroups:["g"], Resources:["r"], Verbs:["v" "w"]}`. */
export function printRule(rule: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const printed = parts.flatMap(([label, values]) =>
    values?.length ? `${label}:[${values.map(quote).join(' ')}]` : [],
  )
  return `{${printed.join(', ')}}`
}

const quote = (value: string): string => JSON.stringify(value)
