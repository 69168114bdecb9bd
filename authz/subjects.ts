import type { ClusterName } from '../framework/object.ts'
import { anonymous, systemAuthenticated, systemUnauthenticated, type UserInfo } from '../framework/user.ts'

/** `subjects[]` of a binding. */
export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** Under what a binding is found: `User/alice`, `Group/devs`; a service account is the user it authenticates as. */
export function subjectKey(subject: Subject, bindingNamespace: string): string | undefined {
  if (subject.kind !== 'ServiceAccount')
    return subjectKinds.has(subject.kind) ? keyOf(subject.kind, subject.name) : undefined
  const namespace = subject.namespace || bindingNamespace
  return namespace === '' ? undefined : keyOf('User', `${serviceAccountPrefix}${namespace}:${subject.name}`)
}

/** Every key under which a binding may name this user. */
export const keysOf = (user: UserInfo): readonly string[] => [
  keyOf('User', user.name),
  ...user.groups.map(group => keyOf('Group', group)),
]

const subjectKinds = new Set(['User', 'Group'])
const keyOf = (kind: string, name: string): string => `${kind}/${name}`

const serviceAccountPrefix = 'system:serviceaccount:'
/** Extra keys that say where an identity is valid (chapter 30, sections 1.7 and 1.8). */
const clusterNameKey = 'authentication.kcp.io/cluster-name'
const scopesKey = 'authentication.kcp.io/scopes'

export const isServiceAccount = (user: UserInfo): boolean => user.name.startsWith(serviceAccountPrefix)

/** A service account of this very logical cluster, used within its scopes. */
export const isLocalServiceAccount = (user: UserInfo, cluster: ClusterName): boolean =>
  isServiceAccount(user) && !isForeign(user, cluster) && inScope(user, cluster)

/** As whom a user is judged in a cluster: service accounts of other clusters and users out of scope lose what they are. */
export function effectiveUser(user: UserInfo, cluster: ClusterName): UserInfo {
  if (!inScope(user, cluster)) return degraded(user, anonymous.name)
  if (!isServiceAccount(user) || !isForeign(user, cluster)) return user
  const homes = user.extra?.[clusterNameKey] ?? []
  if (homes.length !== 1) return degraded(user, anonymous.name)
  const rest = user.name.slice(serviceAccountPrefix.length)
  return degraded(user, `system:kcp:serviceaccount:${homes[0]}:${rest}`)
}

function isForeign(user: UserInfo, cluster: ClusterName): boolean {
  const homes = user.extra?.[clusterNameKey] ?? []
  return homes.length > 0 && !(homes.length === 1 && homes[0] === cluster)
}

/** Values are alternatives joined by commas; all values must hold. */
const inScope = (user: UserInfo, cluster: ClusterName): boolean =>
  (user.extra?.[scopesKey] ?? []).every(value => value.split(',').includes(`cluster:${cluster}`))

const degraded = (user: UserInfo, name: string): UserInfo => ({
  name,
  groups: [user.groups.includes(systemAuthenticated) ? systemAuthenticated : systemUnauthenticated],
})
