import { setTimeout as sleep } from 'node:timers/promises'
import { Debts } from '../../../framework/async/debts.ts'
import type { RequestContext, UserInfo } from '../../../framework/index.ts'
import { accountOf, isPrivileged } from '../../../framework/request/user.ts'
import { type ExpressionAllowance, requestAllowance } from '../../../openapi/index.ts'

/** Units of CEL: about a tenth of a core in the long run. */
const rate = { perSecond: 3_000_000, burst: 10_000_000 }

/**
 * What the expressions of all watches of each user have used. Events of a user whose expressions use more than a share of the
 * processor wait, so that they do not delay those of others.
 */
export class WatchCosts {
  readonly #debts: Debts

  /** `now`: milliseconds. */
  constructor(now?: () => number) {
    this.#debts = new Debts({ ...rate, ...(now && { now }) })
  }

  /**
   * Called between the batches of a watch: charges the user with what was used of the allowance, and renews it. Returns a promise if
   * the watch has to wait.
   */
  renew(
    allowance: ExpressionAllowance,
    ctx: Pick<RequestContext, 'user' | 'signal'>,
  ): Promise<void> | undefined {
    const milliseconds = this.charge(ctx.user, usedOf(allowance))
    Object.assign(allowance, requestAllowance())
    if (milliseconds === 0) return undefined
    return sleep(milliseconds, undefined, { signal: ctx.signal }).catch(() => undefined)
  }

  /** The milliseconds that the watches of the user have to wait. */
  charge(user: UserInfo, units: number): number {
    if (isPrivileged(user)) return 0
    const account = accountOf(user)
    this.#debts.charge(account, units)
    return this.#debts.wait(account)
  }
}

/** Four steps of work take about as long as a unit. */
function usedOf({ left, effort }: ExpressionAllowance): number {
  const all = requestAllowance()
  return all.left - left + (all.effort - effort) / 4
}
