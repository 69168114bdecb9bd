import type { Authorizer } from '../framework/authorizer.ts'
import { alwaysAllowPaths, privilegedGroup } from './alwaysallow.ts'
import { chain, firstOpinion } from './chain.ts'
import { type ClusterStates, workspaceContent } from './content.ts'
import { rbacAuthorizer } from './rbac.ts'
import type { RbacSource } from './rbacsource.ts'
import { systemStatus } from './systemstatus.ts'

export interface AuthorizerOptions {
  readonly rbac: RbacSource
  readonly clusters: ClusterStates
}

/** Health and version: everything that a request without credentials may see. */
const openPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']

/** Who may do what in logical clusters: kcp's order of authorizers (chapter 30, sections 2.2 and 2.3), from memory. */
export function createAuthorizer({ rbac, clusters }: AuthorizerOptions): Authorizer {
  const gates = [workspaceContent(rbac, clusters), systemStatus]
  return firstOpinion([privilegedGroup, alwaysAllowPaths(openPaths), chain(gates, rbacAuthorizer(rbac))])
}
