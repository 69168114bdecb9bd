import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestContext, UserInfo } from '../../../framework/index.ts'
import { isPrivileged } from '../../../framework/request/user.ts'
import { type ExpressionAllowance, requestAllowance } from '../../../openapi/index.ts'

/** Units of CEL that the watches of one user use per second in the long run: about a tenth of a core. */
const perSecond = 3_000_000
/** Units that they use before they have to wait. */
const burst = 10_000_000
/** Users after which those that owe nothing are forgotten. */
const mostUsers = 1_000

interface Debt {
  readonly units: number
  /** Milliseconds. */
  readonly at: number
}

/**
 * What the expressions of all watches of each user have used. Events of a user whose expressions use more than a share of the
 * processor wait, so that they do not delay those of others.
 */
export class WatchCosts {
  readonly #debts = new Map<string, Debt>()
  readonly #now: () => number

  /** `now`: milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
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
    const owed = this.#owed(user.name) + units
    this.#debts.set(user.name, { units: owed, at: this.#now() })
    if (this.#debts.size > mostUsers) this.#forget()
    return Math.max(0, ((owed - burst) / perSecond) * 1_000)
  }

  #owed(name: string): number {
    const debt = this.#debts.get(name)
    if (debt === undefined) return 0
    return Math.max(0, debt.units - ((this.#now() - debt.at) / 1_000) * perSecond)
  }

  #forget(): void {
    for (const name of this.#debts.keys()) if (this.#owed(name) === 0) this.#debts.delete(name)
  }
}

/** Four steps of work take about as long as a unit. */
function usedOf({ left, effort }: ExpressionAllowance): number {
  const all = requestAllowance()
  return all.left - left + (all.effort - effort) / 4
}
