import type { Authorizer } from '../../framework/contract/authorizer.ts'
import { alwaysAllowPaths, privilegedGroup } from './alwaysallow.ts'
import { chain, firstOpinion, type Gate, type Step } from './chain.ts'
import { workspaceContent } from './content.ts'
import { maximalPermissionPolicy } from './maximalpolicy.ts'
import { remembering } from './memory.ts'
import { bootstrapPolicy, localPolicy } from './policysteps.ts'
import { requiredGroups } from './requiredgroups.ts'
import type { AuthorizationSources } from './sources.ts'
import type { Stamps } from './stamps.ts'
import { systemStatus } from './systemstatus.ts'

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

export const stepsOf = ({ rbac }: AuthorizationSources): readonly Step[] => [
  bootstrapPolicy(rbac),
  localPolicy(rbac),
]
