import type { Logger } from '../../framework/contract/log.ts'
import type { Tracing } from '../../framework/tracing/tracing.ts'
import type { VirtualWorkspacesFlags } from '../flags/virtualworkspaces.ts'

/** The inputs of `oriel virtual-workspaces`. */
export interface ViewSetup {
  readonly flags: VirtualWorkspacesFlags
  readonly log: Logger
  readonly tracing?: Tracing
  /** Stops the process. */
  readonly signal: AbortSignal
}
