import { internalError, type Status, StatusError } from '../meta/errors.ts'

/** A function of a plugin, for the file and line of a mistake. */
export type Culprit = (...args: never[]) => unknown

/** A mistake in the definition of a view, found when the view is made. `culprit` is the function that has to be changed. */
export class ViewMistake extends Error {
  readonly culprit: Culprit | undefined

  constructor(message: string, culprit?: Culprit) {
    super(message)
    this.culprit = culprit
  }
}

/** An error of a member of a view. */
export interface MemberProblem {
  /** `authorize`, `present`, `storage.list` */
  readonly member: string
  /** `threw an error`, `must return a boolean, but returned a promise` */
  readonly problem: string
  /** The thrown error. */
  readonly error?: unknown
  /** The function that returned an invalid value. */
  readonly culprit?: Culprit | undefined
}

/** The 500 for a member of a view that failed. It is logged when it is made. */
export class ViewFailure extends StatusError {
  constructor(text: string) {
    const { code, reason, message, details } = internalError(text).status as Status & {
      readonly code: number
    }
    super(code, reason ?? '', message ?? '', details)
  }
}

/** Receives the errors and durations of the members of a plugin's view. */
export interface MemberReports {
  /** Logs and counts a failure. */
  failed(problem: MemberProblem): void
  /**
   * The milliseconds that a member ran without a pause, in which the server could do nothing else. Throws a `ViewFailure`
   * if the members of one request took too long together.
   */
  took(member: string, milliseconds: number): void
}
