import type { Action } from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { effectiveUsers } from '../rbac/effectiveusers.ts'

/** One question to the chain: who, as whom he counts where he asks, and what for. */
export interface Asking {
  /** As he was authenticated. */
  readonly user: UserInfo
  readonly action: Action
  /** As whom he counts in the action's logical cluster. */
  readonly effective: readonly UserInfo[]
}

export const askingOf = (user: UserInfo, action: Action): Asking => ({
  user,
  action,
  effective: effectiveUsers(user, action.cluster),
})

export const inGroup = ({ effective }: Asking, group: string): boolean =>
  effective.some(({ groups }) => groups.includes(group))

/** Asks past what guards a workspace from outside, unless it is about reviews themselves (chapter 30, section 2.8). */
export const isDeep = ({ action }: Asking): boolean =>
  action.deep === true && action.resource?.group !== 'authorization.k8s.io'

/** No single logical cluster. */
export const isNowhere = ({ action: { cluster } }: Asking): boolean => cluster === '' || cluster === '*'
