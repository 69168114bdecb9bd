import { logicalClusterAdmin } from '../kcp/users.ts'

/** Groups by exact name or `prefix*`. */
const matching = (patterns: readonly string[]): ((group: string) => boolean) => {
  const prefixes = patterns.filter(pattern => pattern.endsWith('*')).map(pattern => pattern.slice(0, -1))
  const exact = new Set(patterns)
  return group => exact.has(group) || prefixes.some(prefix => group.startsWith(prefix))
}

/** Groups that the front proxy removes from users (kcp `pkg/proxy/options/authentication.go`, DropGroups). */
export const defaultDropGroups: readonly string[] = [
  'system:masters',
  logicalClusterAdmin,
  'system:kcp:initializer:*',
  'system:kcp:terminator:*',
]

/**
 * Selects the groups that shards receive, sorted: those that match `pass` (all when empty) without those that match
 * `drop`.
 */
export function groupFilter(
  pass: readonly string[],
  drop: readonly string[],
): (groups: readonly string[]) => readonly string[] {
  const passes = pass.length === 0 ? () => true : matching(pass)
  const drops = matching(drop)
  return groups => [...new Set(groups)].filter(group => passes(group) && !drops(group)).sort()
}
