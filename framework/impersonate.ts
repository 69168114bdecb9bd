import { parseServiceAccount } from './authn/accountname.ts'
import { forbiddenTo, type ResourceWish } from './authorize.ts'
import type { Action, Authorizer } from './authorizer.ts'
import { badRequest, forbidden, type StatusError } from './errors.ts'
import { impersonatedUser, type Wanted } from './impersonation.ts'
import type { ClusterScope } from './object.ts'
import {
  clusterNameKey,
  isPrivileged,
  scopeOf,
  scopesKey,
  systemAuthenticated,
  systemMasters,
  type UserInfo,
  warrantKey,
} from './user.ts'
import { parseWarrant, printWarrant } from './warrant.ts'

/** Who wants to be somebody else, and where. */
export interface Impersonation {
  readonly requestor: UserInfo
  readonly wanted: Wanted
  /** Whose policy decides: also inside a view it is the logical cluster's, never the view's own. */
  readonly cluster: ClusterScope
  readonly authorizer: Authorizer
  readonly signal: AbortSignal
}

/**
 * The user that a request acts as, if its sender may (chapter 30, section 1.9; chapter 10, section 14, S1): group by
 * group past the gatekeeper, then by RBAC, and finally confined to the logical cluster in which it was allowed. Warrants
 * are identities too: whoever attaches one must be allowed to be that user. Throws 403.
 */
export async function impersonate(impersonation: Impersonation): Promise<UserInfo> {
  const { requestor, wanted, cluster } = impersonation
  if (isPrivileged(requestor)) return Object.freeze(impersonatedUser(wanted))
  // Over all logical clusters there is no policy that could allow it.
  if (cluster === '*') throw notAllowed()
  const identities = identitiesIn(wanted, cluster)
  for (const identity of identities) pass(requestor, identity, cluster)
  for (const identity of identities) await check(impersonation, identity)
  return Object.freeze(confined(impersonatedUser(wanted), cluster))
}

const notAllowed = (): StatusError => forbidden(undefined, 'impersonation is not allowed for the requestor')

/** Nobody needs more, and each costs a check. */
const mostWarrants = 16

/** The wanted identity, and those in its warrants, in theirs, and so on. Throws 400 for warrants that are none. */
function identitiesIn(wanted: Wanted, cluster: string): readonly Wanted[] {
  const found = [wanted]
  for (let i = 0; i < found.length; i++) {
    for (const value of found[i]?.extra[warrantKey] ?? []) {
      const warrant = parseWarrant(value)
      if (warrant === undefined || found.length > mostWarrants)
        throw badRequest(`the extra ${warrantKey} has a value that is no warrant, or too many`)
      found.push({ uid: '', extra: {}, ...warrant })
    }
  }
  return found.map(identity => ({ ...identity, extra: withoutHome(identity.extra, cluster) }))
}

/** To be at home where the request is adds nothing; to be at home elsewhere is refused below. */
function withoutHome(extra: Wanted['extra'], cluster: string): Wanted['extra'] {
  const { [clusterNameKey]: homes = [], ...others } = extra
  if (homes.some(home => home !== cluster)) throw notAllowed()
  return others
}

/** Groups that kcp itself gives meaning to: only who is in one may give it to another identity. */
const special: ReadonlySet<string> = new Set([
  systemMasters,
  systemAuthenticated,
  'system:kcp:admin',
  'system:kcp:logical-cluster-admin',
  'system:kcp:external-logical-cluster-admin',
  'system:kcp:tenancy:workspace-bootstrapper',
])
const specialPrefixes = ['system:kcp:initializer:', 'system:kcp:terminator:', 'system:cluster:']

const isSpecial = (group: string): boolean =>
  special.has(group) || specialPrefixes.some(prefix => group.startsWith(prefix))

function pass(requestor: UserInfo, { groups }: Wanted, cluster: string): void {
  const own = new Set([...requestor.groups, `system:${scopeOf(cluster)}`])
  if (groups.some(group => isSpecial(group) && !own.has(group))) throw notAllowed()
}

async function check(
  { requestor, cluster, authorizer, signal }: Impersonation,
  identity: Wanted,
): Promise<void> {
  for (const resource of wishesFor(identity)) {
    const action: Action = { verb: 'impersonate', cluster, resource }
    const { effect, reason, hint } = await authorizer.authorize(requestor, action, signal)
    if (effect !== 'allow') throw forbiddenTo(requestor, wish(resource), reason, hint)
  }
}

type Resource = NonNullable<Action['resource']>

const wish = (resource: Resource): ResourceWish => ({
  ...resource,
  isResource: true,
  verb: 'impersonate',
  path: '',
})

/** What must be allowed, one by one (chapter 40, rule 9.11). */
function wishesFor({ name, uid, groups, extra }: Wanted): readonly Resource[] {
  const core = { group: '', version: 'v1', subresource: '', namespace: '' }
  const about = { ...core, group: 'authentication.k8s.io' }
  const account = parseServiceAccount(name)
  return [
    account === undefined
      ? { ...core, resource: 'users', name }
      : { ...core, resource: 'serviceaccounts', ...account },
    ...groups.map(group => ({ ...core, resource: 'groups', name: group })),
    ...(uid === '' ? [] : [{ ...about, resource: 'uids', name: uid }]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map(value => ({ ...about, resource: 'userextras', subresource: key, name: value })),
    ),
  ]
}

/** One scope more, on the user and on everybody in its warrants: rights that were allowed here end here. */
function confined(user: UserInfo, cluster: string): UserInfo {
  const { [scopesKey]: scopes = [], [warrantKey]: warrants, ...others } = user.extra ?? {}
  const inner = warrants?.flatMap(value => {
    const warrant = parseWarrant(value)
    return warrant === undefined ? [] : [printWarrant(confined(warrant, cluster))]
  })
  const extra = {
    ...others,
    [scopesKey]: [...scopes, scopeOf(cluster)],
    ...(inner && { [warrantKey]: inner }),
  }
  return { ...user, extra }
}
