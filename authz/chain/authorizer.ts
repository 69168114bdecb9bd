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
import { type AuthorizationSources, remembering, type Stamps } from './memory.ts'

/** kcp's authorizers by the names of its flag `--authorization-order` (chapter 30, section 2.2). */
export const authorizerNames = ['AlwaysAllowGroups', 'AlwaysAllowPaths', 'RBAC', 'Webhook'] as const
export type AuthorizerName = (typeof authorizerNames)[number]

export interface AuthorizerOptions extends AuthorizationSources {
  /** Default: all, in the order of `authorizerNames`. */
  readonly order?: readonly AuthorizerName[]
  /** Paths that everybody may read, below every cluster; a trailing `*` is a prefix. Default: health. */
  readonly alwaysAllowPaths?: readonly string[]
  /** Asked where the order says; never about `system:masters`. */
  readonly webhook?: Authorizer
  /** Told of every change of the sources. Without it nothing that was decided is remembered. */
  readonly stamps?: Stamps
}

export const defaultOpenPaths: readonly string[] = ['/healthz', '/readyz', '/livez']

/** Who may do what in logical clusters: kcp's order of authorizers (chapter 30, sections 2.2 and 2.3). */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { stamps } = options
  return stamps === undefined
    ? inOrder(options)
    : remembering(options, stamps, noted => inOrder({ ...options, ...noted }))
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

/** Members of `system:masters` may do everything, everywhere. */
export const privilegedGroup: Authorizer = fromMemory(user =>
  isPrivileged(user) ? allow(`member of ${systemMasters}`, 'privileged group') : isNotPrivileged,
)

const isNotPrivileged = noOpinion('', 'privileged group')

/** Paths that everybody may read, whoever they are; a trailing `*` is a prefix. */
export const alwaysAllowPaths = (paths: readonly string[]): Authorizer =>
  fromMemory((_user, { path, resource, verb }) => {
    const open =
      resource === undefined && reads.has(verb) && paths.some(allowed => pathMatches(allowed, path ?? ''))
    return open ? allow('always allowed path', 'open paths') : isNotOpen
  })

const isNotOpen = noOpinion('', 'open paths')

const reads = new Set(['get', 'head'])

/** The policy that holds in every cluster (chapter 30, section 2.7). */
export const bootstrapPolicy =
  (source: RbacSource): PolicyStep =>
  ({ effective, action }) => {
    const namespace = action.resource?.namespace ?? ''
    const verdict = evaluate(source, { users: effective, cluster: systemAdmin, namespace }, action)
    return decisionOf('05-bootstrap', 'bootstrap policy', verdict)
  }

/** Roles and bindings of the request's cluster. */
export const localPolicy =
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
