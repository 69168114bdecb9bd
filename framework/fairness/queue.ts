import type { Lifetime } from '../async/lifetime.ts'
import type { Flow, UserShare } from './flows.ts'

/** The reasons of kube-apiserver for requests that get no seat (`apiserver_flowcontrol_rejected_requests_total`). */
export type Rejection = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/** A request that waits for a seat. */
export interface Waiter {
  readonly flow: Flow
  readonly isSystem: boolean
  readonly lifetime: Pick<Lifetime, 'onEnd' | 'ended'>
}

interface Ticket {
  readonly waiter: Waiter
  /** From `performance.now()`. */
  readonly since: number
  done(rejection: Rejection | undefined): void
}

/** The requests that wait for a seat. `mayExecute`: whether there is one for this request. */
export class SeatQueue {
  tickets: readonly Ticket[] = []
  readonly #mayExecute: (waiter: Waiter) => boolean

  constructor(mayExecute: (waiter: Waiter) => boolean) {
    this.#mayExecute = mayExecute
  }

  /**
   * Calls `left` when the request has its seat, with undefined; or when it ends or has waited for `longest` milliseconds, with
   * the reason.
   */
  wait(waiter: Waiter, longest: number | undefined, left: (rejection?: Rejection) => void): void {
    const timer = longest === undefined ? undefined : setTimeout(() => ticket.done('time-out'), longest)
    const ticket: Ticket = {
      waiter,
      since: performance.now(),
      done: rejection => {
        if (!this.tickets.includes(ticket)) return
        clearTimeout(timer)
        this.tickets = this.tickets.filter(each => each !== ticket)
        left(rejection)
      },
    }
    this.tickets = [...this.tickets, ticket]
    waiter.lifetime.onEnd(() => ticket.done('cancelled'))
  }

  /** Gives free seats to requests in the queue. */
  advance(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.done(undefined)
  }

  /** Of the requests that may execute, that of the user with the fewest seats; the oldest of equal ones. */
  #next(): Ticket | undefined {
    let found: Ticket | undefined
    for (const ticket of this.tickets)
      if ((found === undefined || weight(ticket) < weight(found)) && this.#mayExecute(ticket.waiter))
        found = ticket
    return found
  }

  /** Seconds that the oldest request of a user has waited; 0 without one. */
  oldestOf(user: UserShare): number {
    const found = this.tickets.find(({ waiter }) => waiter.flow.user === user)
    return found === undefined ? 0 : (performance.now() - found.since) / 1000
  }
}

const weight = ({ waiter }: Ticket): number => (waiter.isSystem ? -1 : waiter.flow.user.executing)
