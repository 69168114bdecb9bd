import type { Logger } from '../../framework/contract/log.ts'
import type { Tracing } from '../../framework/tracing/tracing.ts'
import type { VirtualWorkspacesFlags } from '../flags/virtualworkspaces.ts'
import type { ShardConnectionFlags } from '../isolation/messages.ts'

/** The inputs of the connections to other servers. */
export interface ConnectionSetup {
  readonly flags: ShardConnectionFlags & Pick<VirtualWorkspacesFlags, 'authenticationKubeconfig'>
  readonly log: Logger
  readonly tracing?: Tracing
  /** Ends the connections. */
  readonly signal: AbortSignal
}

/** The inputs of `oriel virtual-workspaces`. */
export interface ViewSetup extends ConnectionSetup {
  readonly flags: VirtualWorkspacesFlags
}
