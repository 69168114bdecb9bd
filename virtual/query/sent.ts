import type { UserInfo } from '../../framework/index.ts'
import { badRequest } from '../../framework/meta/errors.ts'
import { accountOf, isPrivileged } from '../../framework/request/user.ts'

/** Objects that the watches of one user follow together: about 100 MiB. */
const most = 500_000

/** How many objects the open watches of each user have sent. Watches keep them, to tell when they leave the query. */
export class SentCounts {
  readonly #counts = new Map<string, number>()

  /** Adds to the number, which may be negative. Throws 400 when there are too many. */
  add(user: UserInfo, count: number): void {
    const account = accountOf(user)
    const next = (this.#counts.get(account) ?? 0) + count
    if (count > 0) this.check(user, next)
    if (next > 0) this.#counts.set(account, next)
    else this.#counts.delete(account)
  }

  /** Throws 400 when one watch would follow so many objects. */
  check(user: UserInfo, count: number): void {
    if (count <= most || isPrivileged(user)) return
    throw badRequest(
      `the open watches of the queries of one user follow at most ${most} objects together: close some, or ask about fewer objects`,
    )
  }
}
