import type { RbacSource } from '../rbac/rbacsource.ts'
import type { ClusterStates } from './content.ts'
import type { BoundExports } from './maximalpolicy.ts'

/** What the chain decides from, all of it in memory. */
export interface AuthorizationSources {
  readonly rbac: RbacSource
  readonly clusters: ClusterStates
  readonly exports: BoundExports
}
