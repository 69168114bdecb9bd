import { LRUCache } from 'lru-cache'
import type { Seat, Seats } from '../fairness/seats.ts'
import { accountOf, type UserInfo } from '../request/user.ts'
import { enterReview, newReviewSeats } from './reviewseats.ts'
import { sha256 } from './token.ts'
import { createVerdicts, type TokenVerdict } from './verdicts.ts'

/** A cache of results of another server. */
export interface ReviewVerdicts<T extends object> {
  /**
   * Like `TokenVerdicts.of`. `source`: who sent the token, see `TokenUse`. Throws 429 while too many other tokens of the
   * source, or of its account, are reviewed.
   */
  of(token: string, source: string | undefined, review: () => Promise<TokenVerdict<T>>): Promise<T>
}

export interface ReviewVerdictOptions<T> {
  /** Milliseconds after which a result expires. */
  readonly longest: number
  /** The user of an accepted token; undefined for a rejected one. */
  readonly userOf: (value: T) => UserInfo | undefined
}

/** Reviews at a time of tokens that were accepted before, and of others. */
const most = 32
/** Tokens whose accounts are remembered after their results have expired. */
const remembered = 10_000

/**
 * Anyone can send unknown tokens, and each costs a review by another server: the reviews at a time are limited, and each source
 * has a fair share of them. Tokens that were accepted before have their own reviews, which their accounts share.
 */
export function reviewVerdicts<T extends object>(options: ReviewVerdictOptions<T>): ReviewVerdicts<T> {
  const verdicts = createVerdicts<T>(options.longest)
  const [known, unknown] = [newReviewSeats(most), newReviewSeats(most)]
  const accounts = new LRUCache<string, string>({ max: remembered })
  const seated = async (key: string, source: string, review: () => Promise<TokenVerdict<T>>) => {
    const account = accounts.get(key)
    const seat = await (account === undefined ? enter(unknown, source) : enter(known, account))
    try {
      const verdict = await review()
      const user = options.userOf(verdict.value)
      if (user !== undefined) accounts.set(key, accountOf(user))
      return verdict
    } finally {
      seat.leave()
    }
  }
  return {
    of: (token, source = '', review) =>
      verdicts.of(token, () => seated(sha256(token).toString('latin1'), source, review)),
  }
}

const enter = (seats: Seats, name: string): Promise<Seat> =>
  enterReview(
    seats,
    { user: name, workspace: name },
    'Too many tokens are being reviewed, please try again later.',
  )
