import type { Awaitable } from '../async/awaitable.ts'
import { slice, turn } from '../async/turn.ts'
import { Counts, type Flow, Flows, type UserShare } from './flows.ts'
import { type Rejection, SeatQueue, type Waiter } from './queue.ts'

/** The user, workspace and priority of a request. */
export interface SeatRequest extends Pick<Waiter, 'isSystem' | 'lifetime'> {
  readonly user: string
  /** The view, its parameters and the logical cluster. */
  readonly workspace: string
}

/** No seat was free in time. */
export interface Refused {
  readonly reason: Rejection
  /** Seconds: as long as the oldest request of the user has waited, at least one. */
  readonly retryAfter: number
}

/** The seats of one kind of requests. */
export interface SeatOptions {
  /** 0: no limit. */
  readonly seats: number
  /** Milliseconds in the queue after which a request is refused; 0: there is no queue. */
  readonly longestWait: number
  /** Called when a request has left the queue, or found it full. */
  readonly left: (seconds: number, rejection?: Rejection) => void
}

/** Seats of the system besides those of users, as a part of these. */
const reserved = 0.1

/**
 * Seats for requests in progress, and a queue of as many places. A user may take another one while it has fewer than are free,
 * and so may all users of a workspace together. Thus one user gets at most half of them, two users a third each, and a new
 * user finds one. Of its share, a user gets as much for one workspace as is left for others. A seat that becomes free is
 * given to the request in the queue whose user has the fewest.
 */
export class Seats {
  readonly options: SeatOptions
  readonly flows = new Flows()
  readonly all = new Counts()
  dispatched = 0
  readonly #most: Counts
  readonly #reserve: number
  readonly #queue = new SeatQueue(waiter => this.mayExecute(waiter))

  constructor(options: SeatOptions) {
    const seats = options.seats === 0 ? Number.POSITIVE_INFINITY : options.seats
    this.options = options
    this.#most = { executing: seats, waiting: seats, stalled: seats }
    this.#reserve = Math.ceil(seats * reserved)
  }

  /** A seat: at once while enough are free, otherwise when the request leaves the queue. */
  enter(claim: SeatRequest): Awaitable<Seat | Refused> {
    const { user, workspace, isSystem } = claim
    const flow = this.flows.users.get(user)?.flows.get(workspace) ?? this.flows.add(user, workspace)
    const seat = new Seat(this, flow, claim)
    if (this.mayExecute(seat)) return this.#dispatch(seat)
    if (this.options.longestWait === 0) return this.#refused(flow, 'concurrency-limit', 0)
    if (!isSystem && !this.admits(flow, 'waiting')) return this.#refused(flow, 'queue-full', 0)
    return this.#waitFor(seat)
  }

  #dispatch(seat: Seat): Seat {
    this.dispatched++
    seat.begin()
    return seat
  }

  mayExecute({ flow, isSystem }: Waiter): boolean {
    if (isSystem) return this.all.executing < this.#most.executing + this.#reserve
    return this.admits(flow, 'executing')
  }

  /** Whether there is room for one more request of the flow. */
  admits(flow: Flow, kind: keyof Counts): boolean {
    const { user, share } = flow
    const free = this.#most[kind] - this.all[kind]
    return share[kind] < free && user[kind] < free && flow[kind] < free - user[kind]
  }

  count(flow: Flow, kind: keyof Counts, by: 1 | -1): void {
    flow[kind] += by
    flow.user[kind] += by
    flow.share[kind] += by
    this.all[kind] += by
  }

  #waitFor(seat: Seat): Promise<Seat | Refused> {
    const { flow } = seat
    const since = performance.now()
    this.count(flow, 'waiting', 1)
    return new Promise(resolve =>
      this.#queue.wait(seat, this.options.longestWait, rejection => {
        this.count(flow, 'waiting', -1)
        const seconds = (performance.now() - since) / 1000
        if (rejection !== undefined) return resolve(this.#refused(flow, rejection, seconds))
        this.options.left(seconds)
        resolve(this.#dispatch(seat))
      }),
    )
  }

  #refused(flow: Flow, reason: Rejection, seconds: number): Refused {
    flow.rejected++
    flow.lastRejected = Date.now()
    this.options.left(seconds, reason)
    return { reason, retryAfter: Math.max(1, Math.ceil(seconds), Math.ceil(this.#queue.oldestOf(flow.user))) }
  }

  /** Waits with a request that has given its seat back. */
  waitAgain(seat: Seat, left: (rejection?: Rejection) => void): void {
    this.#queue.wait(seat, undefined, left)
  }

  /** Gives free seats to requests in the queue. */
  advance(): void {
    if (this.#queue.waiting > 0) this.#queue.advance()
  }
}

/** Milliseconds for which work keeps the seat of a request that has ended. A promise of a plugin may never settle. */
const longestWork = 300_000

/** The seat of one request. A class, because one is created for each request. */
export class Seat implements Waiter {
  readonly flow: Flow
  readonly isSystem: boolean
  readonly lifetime: Waiter['lifetime']
  readonly #seats: Seats
  #state: 'executing' | 'stalled' | 'left' = 'left'
  #isWorking = false
  #isOver = false
  #bound: NodeJS.Timeout | undefined

  constructor(seats: Seats, flow: Flow, { isSystem, lifetime }: SeatRequest) {
    this.#seats = seats
    this.flow = flow
    this.isSystem = isSystem
    this.lifetime = lifetime
  }

  begin(): void {
    this.#state = 'executing'
    this.#seats.count(this.flow, 'executing', 1)
  }

  /** Gives the seat back while the request waits for its client. If its user has too many such requests, it keeps the seat. */
  pause(): void {
    if (this.#state !== 'executing' || !this.#seats.admits(this.flow, 'stalled')) return
    this.#state = 'stalled'
    this.#seats.count(this.flow, 'stalled', 1)
    this.#seats.count(this.flow, 'executing', -1)
    this.#seats.advance()
  }

  /** Takes a seat again. Resolves when there is one, or when the request has ended. */
  resume(): Awaitable<void> {
    if (this.#state !== 'stalled' || this.lifetime.ended !== undefined) return
    if (!this.#seats.mayExecute(this)) return this.#waitAgain()
    this.#seats.count(this.flow, 'stalled', -1)
    this.begin()
  }

  #waitAgain(): Promise<void> {
    return new Promise(resolve =>
      this.#seats.waitAgain(this, rejection => {
        if (rejection === undefined && this.#state === 'stalled') {
          this.#seats.count(this.flow, 'stalled', -1)
          this.begin()
        }
        resolve()
      }),
    )
  }

  /** Waits for the client without the seat. */
  async without<T>(waiting: Promise<T>): Promise<T> {
    this.pause()
    try {
      return await waiting
    } finally {
      await this.resume()
    }
  }

  /**
   * The work of the request, which may go on when its client has gone or its deadline has passed: it keeps the seat, for at
   * most five minutes after that.
   */
  async keepFor(work: Promise<unknown>): Promise<void> {
    this.#isWorking = true
    await work.catch(() => undefined)
    this.#isWorking = false
    clearTimeout(this.#bound)
    if (this.#isOver) this.#giveBack()
  }

  /** The request has ended. */
  leave(): void {
    this.#isOver = true
    if (!this.#isWorking) this.#giveBack()
    else this.#bound ??= setTimeout(() => this.#giveBack(), longestWork).unref()
  }

  #giveBack(): void {
    const state = this.#state
    if (state === 'left') return
    this.#state = 'left'
    this.#seats.count(this.flow, state, -1)
    if (state === 'executing') this.#seats.advance()
  }
}

/**
 * The first step of a request, until it waits or takes a turn. In a turn of the event loop whose slice is used up, each user begins
 * one request; other requests of the user wait for a turn. Otherwise all requests that arrive together begin together, and a
 * user with one request waits for the first steps of many.
 */
export class Beginnings {
  #turn = 0
  #isOpen = false
  #since = 0

  /** undefined: a request of the user may begin now; or a promise of its turn. */
  begin(user: Pick<UserShare, 'begun'>): Promise<void> | undefined {
    if (!this.#isOpen) this.#open()
    else if (user.begun === this.#turn && performance.now() - this.#since >= slice) return turn()
    user.begun = this.#turn
    return undefined
  }

  #open(): void {
    this.#isOpen = true
    this.#turn++
    this.#since = performance.now()
    setImmediate(this.#close)
  }

  readonly #close = (): void => {
    this.#isOpen = false
  }
}
