import { type Authorizer, actionOf, forbiddenTo } from '../contract/authorizer.ts'
import { badRequest, forbidden, type StatusError } from '../meta/errors.ts'
import type { ClusterScope } from '../meta/object.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import {
  clusterNameKey,
  isPrivileged,
  scopeOf,
  scopesKey,
  systemAuthenticated,
  systemMasters,
  type UserInfo,
  warrantKey,
} from '../request/user.ts'
import { type ImpersonationMode, impersonationModes, impersonationWishes } from './modes.ts'
import { impersonatedUser, type Wanted } from './wanted.ts'
import { parseWarrant, printWarrant } from './warrant.ts'

/** Who wants to be somebody else, and where. */
export interface Impersonation {
  readonly requestor: UserInfo
  readonly wanted: Wanted
  /** Whose policy decides: also inside a view it is the logical cluster's, never the view's own. */
  readonly cluster: ClusterScope
  /** What is asked as that user. */
  readonly info: RequestInfo
  readonly authorizer: Authorizer
  readonly signal: AbortSignal
}

/** Who a request acts as. */
export interface Impersonated {
  readonly user: UserInfo
  /** The verb that allowed it, where it is for such requests only: `impersonate:user-info`. */
  readonly constraint?: string
}

/**
 * The user that a request acts as, if its sender may (chapter 30, section 1.9; chapter 10, section 14, S1): group by
 * group past the gatekeeper, then by RBAC, and finally confined to the logical cluster in which it was allowed. Warrants
 * are identities too: whoever attaches one must be allowed to be that user. Throws 403.
 */
export async function impersonate(impersonation: Impersonation): Promise<Impersonated> {
  const { requestor, wanted, cluster } = impersonation
  if (isPrivileged(requestor))
    return impersonated(
      wanted,
      impersonationModes.find(mode => mode.suits(wanted)),
    )
  // Over all logical clusters there is no policy that could allow it.
  if (cluster === '*') throw notAllowed()
  const [own, ...warranted] = identitiesIn(wanted, cluster)
  for (const identity of [own, ...warranted]) pass(requestor, identity, cluster)
  const mode = await check(impersonation, own)
  for (const identity of warranted) await check(impersonation, identity)
  const { user, ...constraint } = impersonated(wanted, mode)
  return { ...constraint, user: Object.freeze(confined(user, cluster)) }
}

function impersonated(wanted: Wanted, mode: ImpersonationMode | undefined): Impersonated {
  const user = impersonatedUser(mode?.groups === undefined ? wanted : { ...wanted, groups: mode.groups })
  return { user: Object.freeze(user), ...(mode?.on === undefined ? {} : { constraint: mode.verb }) }
}

const notAllowed = (): StatusError => forbidden(undefined, 'impersonation is not allowed for the requestor')

/** Nobody needs more, and each costs a check. */
const mostWarrants = 16

/** The wanted identity, and those in its warrants, in theirs, and so on. Throws 400 for warrants that are none. */
function identitiesIn(wanted: Wanted, cluster: string): readonly [Wanted, ...Wanted[]] {
  const found: [Wanted, ...Wanted[]] = [wanted]
  for (let i = 0; i < found.length; i++) {
    for (const value of found[i]?.extra[warrantKey] ?? []) {
      const warrant = parseWarrant(value)
      if (warrant === undefined || found.length > mostWarrants)
        throw badRequest(`the extra ${warrantKey} has a value that is no warrant, or too many`)
      found.push({ uid: '', extra: {}, ...warrant })
    }
  }
  const [own, ...warranted] = found
  const atHome = (identity: Wanted): Wanted => ({ ...identity, extra: withoutHome(identity.extra, cluster) })
  return [atHome(own), ...warranted.map(atHome)]
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

/** The first mode that allows it; otherwise throws what the first one said. */
async function check(impersonation: Impersonation, identity: Wanted): Promise<ImpersonationMode> {
  let refusal: StatusError | undefined
  for (const mode of impersonationModes) {
    if (!mode.suits(identity)) continue
    const found = await refusalIn(impersonation, identity, mode)
    if (found === undefined) return mode
    refusal ??= found
  }
  throw refusal ?? notAllowed()
}

async function refusalIn(
  { requestor, cluster, info, authorizer, signal }: Impersonation,
  identity: Wanted,
  mode: ImpersonationMode,
): Promise<StatusError | undefined> {
  for (const wish of impersonationWishes(mode, identity, info)) {
    const { effect, reason, hint } = await authorizer.authorize(requestor, actionOf(wish, cluster), signal)
    if (effect !== 'allow') return forbiddenTo(requestor, wish, reason, hint)
  }
  return undefined
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
