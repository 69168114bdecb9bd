import { type Awaitable, attempt } from '../async/awaitable.ts'
import type { RequestContext } from '../contract/context.ts'
import type { Culprit, MemberReports } from '../contract/viewfailure.ts'
import { isPromise, named } from '../lens/privatecopy.ts'
import { StatusError } from '../meta/errors.ts'
import type { Supervisor } from './supervisor.ts'

/** A member of a view, and the type of its result. */
export interface CheckedMember<T> {
  readonly name: string
  readonly culprit: Culprit
  /** The required result, for the error: `a decision, such as allow('…')`. */
  readonly wanted: string
  readonly is: (result: unknown) => result is T
}

/** Calls members of a view: measures them, reports their errors, and checks their results. */
export class MemberCalls {
  readonly #supervisor: Supervisor

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor
  }

  /** The reports of a request, also for those that the server makes itself. */
  reportsOf(ctx: RequestContext): MemberReports {
    return ctx.record.calls ?? this.#supervisor.reports(ctx)
  }

  /** The context for the view. */
  context(ctx: RequestContext): RequestContext {
    return ctx.record.calls === undefined ? this.#supervisor.context(ctx) : ctx
  }

  /** The result of a member, which may be a promise. */
  call<T>(ctx: RequestContext, member: CheckedMember<T>, run: () => unknown): Awaitable<T> {
    const reports = this.reportsOf(ctx)
    return attempt(
      () => {
        const result = this.#timed(reports, member.name, run)
        if (!isPromise(result)) return this.checked(reports, member, result)
        return Promise.resolve(result).then(found => this.checked(reports, member, found))
      },
      error => {
        throw this.thrown(reports, member.name, error, ctx)
      },
    )
  }

  /** The result of a member that must not return a promise. */
  callNow<T>(reports: MemberReports, member: CheckedMember<T>, run: () => unknown): T {
    try {
      return this.checked(reports, member, this.#timed(reports, member.name, run))
    } catch (error) {
      throw this.thrown(reports, member.name, error)
    }
  }

  /** Returns the result if the contract allows it. */
  checked<T>(reports: MemberReports, { name, culprit, wanted, is }: CheckedMember<T>, result: unknown): T {
    if (is(result)) return result
    if (isPromise(result)) result.then(undefined, () => undefined)
    const problem = `must return ${wanted}, but returned ${shown(result)}`
    reports.failed({ member: name, problem, culprit })
    throw this.#supervisor.failed(`${name} ${problem}`)
  }

  /** The error for the client. Errors after the end of the request are no failures of the view. */
  thrown(reports: MemberReports, member: string, error: unknown, ctx?: RequestContext): unknown {
    if (error instanceof StatusError || ctx?.signal.aborted) return error
    reports.failed({ member, problem: 'threw an error', error })
    return this.#supervisor.failed(`${member} threw an error, which the server logged`)
  }

  succeeded(ctx: RequestContext): void {
    this.#supervisor.succeeded(ctx)
  }

  #timed<T>(reports: MemberReports, member: string, run: () => T): T {
    const since = performance.now()
    const result = run()
    try {
      reports.took(member, performance.now() - since)
    } catch (error) {
      if (isPromise(result)) result.then(undefined, () => undefined)
      throw error
    }
    return result
  }
}

const shown = (value: unknown): string => (typeof value === 'boolean' ? String(value) : named(value))
