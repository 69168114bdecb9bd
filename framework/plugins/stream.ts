import { optional, unlessAborted } from '../async/awaitable.ts'
import { turn } from '../async/turn.ts'
import type { RequestContext } from '../contract/context.ts'
import type { CheckedMember, MemberCalls } from './membercall.ts'

/** The values that a stream of a storage yields and returns. */
export interface StreamMembers<T, R> {
  readonly yields: CheckedMember<T>
  readonly returns: CheckedMember<R>
}

/** The number of batches after which other requests get a turn of the event loop. */
const mostInOneTurn = 64

/**
 * A list or watch of a plugin's storage. Its results are checked, and it ends with the request: also if the generator of the
 * plugin never yields, ignores `return`, or is never closed.
 */
export class SupervisedStream<T, R> implements AsyncGenerator<T, R, undefined> {
  readonly #calls: MemberCalls
  readonly #ctx: RequestContext
  readonly #members: StreamMembers<T, R>
  #inner: AsyncGenerator<unknown, unknown, undefined> | undefined
  #isOver = false
  #batches = 0

  constructor(
    calls: MemberCalls,
    ctx: RequestContext,
    members: StreamMembers<T, R>,
    inner: AsyncGenerator<unknown, unknown, undefined>,
  ) {
    this.#calls = calls
    this.#ctx = ctx
    this.#members = members
    this.#inner = inner
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<T, R>> {
    const reports = this.#calls.reportsOf(this.#ctx)
    const { yields, returns } = this.#members
    if (this.#isOver || this.#inner === undefined) return { done: true, value: undefined as R }
    try {
      // A generator that never waits would keep the server from doing anything else.
      if (++this.#batches % mostInOneTurn === 0) await turn()
      const next = await unlessAborted(this.#ctx.signal, optional(this.#inner.next()))
      if (next.done) this.#isOver = true
      this.#calls.succeeded(this.#ctx)
      return next.done
        ? { done: true, value: this.#calls.checked(reports, returns, next.value) }
        : { done: false, value: this.#calls.checked(reports, yields, next.value) }
    } catch (error) {
      this.#close()
      throw this.#calls.thrown(reports, yields.name, error, this.#ctx)
    }
  }

  async return(value: R | PromiseLike<R>): Promise<IteratorResult<T, R>> {
    this.#close()
    return { done: true, value: await value }
  }

  async throw(error: unknown): Promise<IteratorResult<T, R>> {
    this.#close()
    throw error
  }

  /** Not awaited: a generator that is waiting ends only after the wait. */
  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    const closing = this.#inner?.return(undefined)
    this.#inner = undefined
    if (closing !== undefined) optional(Promise.resolve(closing))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
  }
}
