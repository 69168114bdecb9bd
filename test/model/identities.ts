import type { UserInfo } from '../../framework/request/user.ts'

export const homeKey = 'authentication.kcp.io/cluster-name'
export const scopeKey = 'authentication.kcp.io/scopes'
const warrantKey = 'authorization.kcp.io/warrant'
const robotPrefix = 'system:serviceaccount:'
const listed = (user: UserInfo, key: string): readonly string[] => user.extra?.[key] ?? []
export const isRobot = (user: UserInfo): boolean => user.name.startsWith(robotPrefix)

function isValidIn(user: UserInfo, cluster: string): boolean {
  const homes = listed(user, homeKey)
  if (isRobot(user) && homes.length > 0 && homes.join('|') !== cluster) return false
  return listed(user, scopeKey).every(value => value.split(',').some(scope => scope === `cluster:${cluster}`))
}

export const isLocalRobot = (user: UserInfo, cluster: string): boolean =>
  isRobot(user) && isValidIn(user, cluster)

/** The effective users of a user in a cluster. */
export function identitiesOf(user: UserInfo, cluster: string): readonly UserInfo[] {
  const all = withWarrants(user)
  const valid = all.filter(one => isValidIn(one, cluster))
  const lost = all.filter(one => !isValidIn(one, cluster))
  const isKnown = (one: UserInfo): boolean => one.groups.includes('system:authenticated')
  const nobody = (...groups: string[]): UserInfo => ({ name: 'system:anonymous', groups })
  return [
    ...valid,
    ...all.filter(isWorldwide).map(worldwide),
    ...(lost.some(isKnown) ? [nobody('system:authenticated', ...agreed(user))] : []),
    ...(lost.some(one => !isKnown(one)) ? [nobody('system:unauthenticated')] : []),
  ]
}

function withWarrants(user: UserInfo): readonly UserInfo[] {
  const warrants = listed(user, warrantKey)
    .flatMap(text => warrantIn(text) ?? [])
    .filter(one => !isRobot(one) || listed(one, homeKey).length > 0)
    .map(one => ({ ...one, groups: [...one.groups, ...agreed(one)] }))
  return [user, ...warrants.flatMap(withWarrants)]
}

function warrantIn(text: string): UserInfo | undefined {
  try {
    const { user, groups, extra } = JSON.parse(text)
    const good =
      [user ?? ''].every(each => typeof each === 'string') && (groups === undefined || Array.isArray(groups))
    return good ? { name: user ?? '', groups: groups ?? [], ...(extra && { extra }) } : undefined
  } catch {
    return undefined
  }
}

/** Known in other clusters: a service account of one cluster, which its scopes include. */
function isWorldwide(user: UserInfo): boolean {
  const [home = '', ...others] = listed(user, homeKey)
  const isReachable = (value: string): boolean => value.split(',').includes(`cluster:${home}`)
  return isRobot(user) && home !== '' && others.length === 0 && listed(user, scopeKey).every(isReachable)
}

const worldwideName = (user: UserInfo): string =>
  `system:kcp:serviceaccount:${listed(user, homeKey)[0]}:${user.name.slice(robotPrefix.length)}`

const worldwide = (user: UserInfo): UserInfo => ({
  name: worldwideName(user),
  groups: [...user.groups.filter(group => group === 'system:authenticated'), ...agreed(user)],
})

/** `system:cluster:<name>` for clusters in all scopes. */
function agreed(user: UserInfo): readonly string[] {
  const scopes = listed(user, scopeKey).map(value => value.split(','))
  const all = [...new Set(scopes.flat())].filter(scope => scopes.every(each => each.includes(scope)))
  return all.filter(scope => scope.startsWith('cluster:')).map(scope => `system:${scope}`)
}

const ofKcp =
  /^system:(masters|authenticated|kcp:(admin|logical-cluster-admin|external-logical-cluster-admin|tenancy:workspace-bootstrapper)|(kcp:initializer|kcp:terminator|cluster):.*)$/

/** As the policies of another cluster know the user: without names and groups that are valid elsewhere only. */
export function namedIn(user: UserInfo, cluster: string): UserInfo {
  if (isRobot(user) || isValidIn(user, cluster)) return user
  const isKnown = user.groups.includes('system:authenticated')
  const own = isKnown ? ['system:authenticated', ...agreed(user)] : ['system:unauthenticated']
  return {
    ...user,
    name: 'system:anonymous',
    groups: [...own, ...user.groups.filter(group => ofKcp.test(group))],
  }
}

const mark = 'apis.kcp.io:binding:'

/** The user with the prefix that policies of exports use. */
export function marked(user: UserInfo): UserInfo {
  if (isRobot(user) && !isWorldwide(user)) {
    const group = user.groups.includes('system:authenticated')
      ? 'system:authenticated'
      : 'system:unauthenticated'
    return { name: `${mark}system:anonymous`, groups: [mark + group] }
  }
  const warrants = listed(user, warrantKey)
    .flatMap(text => warrantIn(text) ?? [])
    .map(marked)
  const asText = warrants.map(({ name, groups, extra }) => JSON.stringify({ user: name, groups, extra }))
  return {
    name: mark + (isRobot(user) ? worldwideName(user) : user.name),
    groups: user.groups.map(group => mark + group),
    extra: { ...user.extra, [warrantKey]: asText },
  }
}

export function warranted(user: UserInfo, cluster: string): UserInfo {
  const extra = { [homeKey]: [cluster] }
  const warrant = { user: 'system:serviceaccount:default:rest', groups: ['system:kcp:admin'], extra }
  const all = [...listed(user, warrantKey), JSON.stringify(warrant)]
  return { ...user, extra: { ...user.extra, [warrantKey]: all } }
}
