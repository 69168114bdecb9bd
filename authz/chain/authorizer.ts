import {
  type Authorizer,
  allow,
  type Decision,
  fromMemory,
  noOpinion,
} from '../../framework/contract/authorizer.ts'
import { isPrivileged, systemMasters } from '../../framework/request/user.ts'
import { pathMatches } from '../rbac/policyrule.ts'
import { evaluate, type RbacVerdict, systemAdmin } from '../rbac/rbac.ts'
import type { RbacSource } from '../rbac/rbacsource.ts'
import { chain, firstOpinion, type Gate, type PolicyStep } from './chain.ts'
import { requiredGroups, systemStatus, workspaceContent } from './gates.ts'
import { maximalPermissionPolicy } from './maximalpolicy.ts'
import { type AuthorizationSources, cachedAuthorizer, type Stamps } from './memory.ts'

/** kcp's authorizers by their names in `--authorization-order`. */
export const authorizerNames = ['AlwaysAllowGroups', 'AlwaysAllowPaths', 'RBAC', 'Webhook'] as const
export type AuthorizerName = (typeof authorizerNames)[number]

export interface AuthorizerOptions extends AuthorizationSources {
  /** Default: all, in the order of `authorizerNames`. */
  readonly order?: readonly AuthorizerName[]
  /** Paths allowed without authorization, below every cluster; a trailing `*` matches a prefix. Default: health. */
  readonly alwaysAllowPaths?: readonly string[]
  /** Called at its position in `order`; not for `system:masters`. */
  readonly webhook?: Authorizer
  /** Counts the changes of the sources. Without it decisions are not cached. */
  readonly stamps?: Stamps
}

export const defaultOpenPaths: readonly string[] = ['/healthz', '/readyz', '/livez']

/** The authorizer of logical clusters, in kcp's order (`pkg/server/options/authorization.go` of kcp). */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { stamps } = options
  return stamps === undefined
    ? inOrder(options)
    : cachedAuthorizer(options, stamps, recorded => inOrder({ ...options, ...recorded }))
}

function inOrder(options: AuthorizerOptions): Authorizer {
  const { order = authorizerNames, webhook } = options
  const made: Readonly<Record<AuthorizerName, () => readonly Authorizer[]>> = {
    AlwaysAllowGroups: () => [privilegedGroup],
    AlwaysAllowPaths: () => [alwaysAllowPaths(options.alwaysAllowPaths ?? defaultOpenPaths)],
    RBAC: () => [chain(gatesOf(options), stepsOf(options))],
    Webhook: () => (webhook === undefined ? [] : [privilegedGroup, webhook]),
  }
  return firstOpinion(order.flatMap(name => made[name]()))
}

export const gatesOf = ({ rbac, clusters, exports }: AuthorizationSources): readonly Gate[] => [
  requiredGroups(clusters),
  workspaceContent(rbac, clusters),
  systemStatus,
  maximalPermissionPolicy(rbac, exports),
]

export const stepsOf = ({ rbac }: AuthorizationSources): readonly PolicyStep[] => [
  bootstrapPolicy(rbac),
  localPolicy(rbac),
]

/** Allows everything to members of `system:masters` (rules.md 9.8). */
const privilegedGroup: Authorizer = fromMemory(user =>
  isPrivileged(user) ? allow(`member of ${systemMasters}`, 'privileged group') : isNotPrivileged,
)

const isNotPrivileged = noOpinion('', 'privileged group')

/** Allows paths without authorization; a trailing `*` matches a prefix. */
export const alwaysAllowPaths = (paths: readonly string[]): Authorizer =>
  fromMemory((_user, { path, resource, verb }) => {
    const open =
      resource === undefined && reads.has(verb) && paths.some(allowed => pathMatches(allowed, path ?? ''))
    return open ? allow('always allowed path', 'open paths') : isNotOpen
  })

const isNotOpen = noOpinion('', 'open paths')

const reads = new Set(['get', 'head'])

/**
 * The bootstrap policy: roles and bindings of `system:admin` hold in every cluster
 * (`pkg/authorization/bootstrap_policy_authorizer.go` of kcp).
 */
const bootstrapPolicy =
  (source: RbacSource): PolicyStep =>
  ({ effective, action }) => {
    const namespace = action.resource?.namespace ?? ''
    const verdict = evaluate(source, { users: effective, cluster: systemAdmin, namespace }, action)
    return decisionOf('05-bootstrap', 'bootstrap policy', verdict)
  }

/** Roles and bindings of the request's cluster (`pkg/authorization/local_authorizer.go` of kcp). */
const localPolicy =
  (source: RbacSource): PolicyStep =>
  ({ effective, action }) => {
    const { cluster } = action
    if (cluster === '' || cluster === '*') return noOpinion('empty cluster name', '05-local')
    const namespace = action.resource?.namespace ?? ''
    const verdict = evaluate(source, { users: effective, cluster, namespace }, action)
    return decisionOf('05-local', `local cluster "${cluster}" policy`, verdict)
  }

const decisionOf = (authorizer: string, policy: string, { allowed, reason }: RbacVerdict): Decision =>
  (allowed ? allow : noOpinion)(`${policy}: ${reason}`, authorizer)
