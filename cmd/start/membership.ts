import type { ServerRole } from '../process/role.ts'
import type { AdminTokens } from '../process/worker.ts'

/** What a server has in common with the others of one installation. */
export interface Membership {
  readonly role: ServerRole
  /** Absent: the administrators of the data directory. */
  readonly admins?: AdminTokens
  /** The directory of the users that `oriel user` manages; absent: the data directory. */
  readonly usersDirectory?: string
}
