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
  /** Requests that came later have larger numbers. */
  readonly number: number
  done(rejection: Rejection | undefined): void
}

/** The requests that wait, by flow, in their order. */
type Lines = Map<Flow, Set<Ticket>>

/** The requests that wait for a seat. `mayExecute`: whether there is one for this request; equal for requests of the same line. */
export class SeatQueue {
  readonly #lines: Lines = new Map()
  readonly #systemLines: Lines = new Map()
  /** Requests that wait now. */
  waiting = 0
  #count = 0
  readonly #mayExecute: (waiter: Waiter) => boolean

  constructor(mayExecute: (waiter: Waiter) => boolean) {
    this.#mayExecute = mayExecute
  }

  /**
   * Calls `left` when the request has its seat, with undefined; or when it ends or has waited for `longest` milliseconds, with
   * the reason.
   */
  wait(waiter: Waiter, longest: number | undefined, left: (rejection?: Rejection) => void): void {
    const lines = waiter.isSystem ? this.#systemLines : this.#lines
    const line = lines.get(waiter.flow) ?? new Set()
    const timer = longest === undefined ? undefined : setTimeout(() => ticket.done('time-out'), longest)
    const ticket: Ticket = {
      waiter,
      since: performance.now(),
      number: this.#count++,
      done: rejection => {
        if (!line.delete(ticket)) return
        this.waiting--
        if (line.size === 0) lines.delete(waiter.flow)
        clearTimeout(timer)
        left(rejection)
      },
    }
    lines.set(waiter.flow, line.add(ticket))
    this.waiting++
    waiter.lifetime.onEnd(() => ticket.done('cancelled'))
  }

  /** Gives free seats to requests in the queue. */
  advance(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next())
      next.done(next.waiter.lifetime.ended === undefined ? undefined : 'cancelled')
  }

  /** Of the requests that may execute, that of the user with the fewest seats; the oldest of equal ones. */
  #next(): Ticket | undefined {
    let found: Ticket | undefined
    for (const lines of [this.#lines, this.#systemLines])
      for (const line of lines.values()) {
        const first = firstOf(line)
        if ((found === undefined || isBefore(first, found)) && this.#mayExecute(first.waiter)) found = first
      }
    return found
  }

  /** Seconds that the oldest request of a user has waited; 0 without one. */
  oldestOf(user: UserShare): number {
    const now = performance.now()
    let longest = 0
    for (const lines of [this.#lines, this.#systemLines])
      for (const flow of user.flows.values()) {
        const line = lines.get(flow)
        if (line !== undefined) longest = Math.max(longest, now - firstOf(line).since)
      }
    return longest / 1000
  }
}

/** The oldest request of a line, which has at least one. */
function firstOf(line: ReadonlySet<Ticket>): Ticket {
  const [first] = line
  if (first === undefined) throw new Error('a line without requests')
  return first
}

const weight = ({ waiter }: Ticket): number => (waiter.isSystem ? -1 : waiter.flow.user.executing)

const isBefore = (a: Ticket, b: Ticket): boolean =>
  weight(a) < weight(b) || (weight(a) === weight(b) && a.number < b.number)
