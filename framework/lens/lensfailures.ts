import type { RequestContext } from '../contract/context.ts'
import { type Culprit, type MemberProblem, ViewFailure } from '../contract/viewfailure.ts'
import { StatusError } from '../meta/errors.ts'
import { groupResource } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { Lens, View } from './lens.ts'
import { isPromise } from './privatecopy.ts'

export type LensMember = keyof Lens | 'the view function'

/** The errors of a lens: clients get the view and the member, the log gets everything. */
export class LensFailures<P extends Params = Params> {
  readonly #ctx: RequestContext<P>
  readonly #view: Culprit
  readonly #lens: Lens | undefined

  /** `lens`: absent until the view function has returned it. */
  constructor(ctx: RequestContext<P>, view: View<P>, lens?: Lens) {
    this.#ctx = ctx
    this.#view = view
    this.#lens = lens
  }

  /** The result of a member. A promise is an error: it would be true, and an object. */
  call<T>(member: LensMember, wanted: string, run: () => T): T {
    const { calls } = this.#ctx.record
    const since = calls === undefined ? 0 : performance.now()
    const result = this.#result(member, run)
    if (isPromise(result)) {
      result.then(undefined, () => undefined)
      throw this.wrong(member, `must return ${wanted}, but returned a promise`)
    }
    calls?.took(member, performance.now() - since)
    return result
  }

  #result<T>(member: LensMember, run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof StatusError) throw error
      this.#report({ member, problem: 'threw an error', error })
      throw this.#failure(member, 'threw an error, which the server logged')
    }
  }

  wrong(member: string, problem: string): StatusError {
    this.#report({ member, problem, culprit: this.#culpritOf(member) })
    return this.#failure(member, problem)
  }

  #culpritOf(member: string): Culprit | undefined {
    const culprit = Reflect.get(this.#lens ?? {}, member) ?? this.#view
    return typeof culprit === 'function' ? culprit : this.#view
  }

  #failure(member: string, problem: string): StatusError {
    const { workspace } = this.#ctx
    const lens = workspace === '' ? 'a lens' : `the lens of the view ${JSON.stringify(workspace)}`
    return new ViewFailure(`${lens} failed: ${member} ${problem}`)
  }

  #report(found: MemberProblem): void {
    const { workspace, info, record } = this.#ctx
    if (record.calls !== undefined) {
      record.calls.failed(found)
      return
    }
    const { member, problem, error } = found
    const resource = info.isResource ? groupResource(info.group, info.resource) : info.path
    const fields = { view: workspace, member, resource, ...(error === undefined ? {} : { err: error }) }
    record.log.error(fields, `lens failed: ${member} ${problem}`)
  }
}
