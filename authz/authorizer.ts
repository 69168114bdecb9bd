import type { Authorizer } from '../framework/authorizer.ts'
import { alwaysAllowPaths, privilegedGroup } from './alwaysallow.ts'
import { chain, firstOpinion, type Gate, type Step } from './chain.ts'
import { type ClusterStates, workspaceContent } from './content.ts'
import { type BoundExports, maximalPermissionPolicy } from './maximalpolicy.ts'
import { bootstrapPolicy, localPolicy } from './policysteps.ts'
import type { RbacSource } from './rbacsource.ts'
import { requiredGroups } from './requiredgroups.ts'
import { systemStatus } from './systemstatus.ts'

/** What the chain decides from, all of it in memory. */
export interface AuthorizationSources {
  readonly rbac: RbacSource
  readonly clusters: ClusterStates
  readonly exports: BoundExports
}

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
}

export const defaultOpenPaths: readonly string[] = ['/healthz', '/readyz', '/livez']

/** Who may do what in logical clusters: kcp's order of authorizers (chapter 30, sections 2.2 and 2.3). */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
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

export const stepsOf = ({ rbac }: AuthorizationSources): readonly Step[] => [
  bootstrapPolicy(rbac),
  localPolicy(rbac),
]
