import type { Logger } from '../../framework/contract/log.ts'
import type { VirtualWorkspacesFlags } from '../flags/virtualworkspaces.ts'

/** What everything in front of a shard is made from. */
export interface ViewSetup {
  readonly flags: VirtualWorkspacesFlags
  readonly log: Logger
  /** Ends everything. */
  readonly signal: AbortSignal
}
