import type { Pattern } from '../../framework/formats/pattern.ts'
import { testInThread } from '../../framework/threads/patternthread.ts'

/** Steps of all matches of one validation: seconds of processor time at most. */
const mostSteps = 50_000_000

/** Milliseconds after which a validation pauses, and of a match that is made at once. */
const slice = 10

/** Milliseconds of the longest match at once, without an account. */
const longestAtOnce = 25

/** Milliseconds of the longest match in the thread. */
const longestInThread = 1_000

/** Steps between two looks at the clock. */
const stepsOfLook = 10_000

/** Thrown before a match when the matches of this turn have taken long, and before a long one. */
export class MatchingPaused extends Error {
  override readonly name = 'MatchingPaused'
  /** Resolves when the long match has a result. */
  readonly until: Promise<void> | undefined
  constructor(until?: Promise<void>) {
    super('validation paused')
    this.until = until
  }
}

export type MatchResult = 'matches' | 'differs' | 'too long'

const resultOf = (matches: boolean): MatchResult => (matches ? 'matches' : 'differs')

/**
 * The matches of a validation, which is deterministic: when it begins again after a pause, the matches of before have their kept
 * results, in the same order.
 */
export class Matching {
  /** Whose long matches are made in the thread; undefined: they are refused. */
  readonly #account: string | undefined
  readonly #results: MatchResult[] = []
  #position = 0
  #steps = 0
  #nextLook = stepsOfLook
  #since = performance.now()
  #failure: unknown

  constructor(account?: string) {
    this.#account = account
  }

  /** Begins the validation again. Throws the failure of the thread. */
  begin(): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#position = 0
    this.#since = performance.now()
  }

  /** The kept result, or that of the match. Throws `MatchingPaused`. */
  match(pattern: Pattern, text: string): MatchResult {
    const result = this.#results[this.#position] ?? this.#matched(pattern, text)
    this.#results[this.#position++] = result
    return result
  }

  #matched(pattern: Pattern, text: string): MatchResult {
    if (this.#steps >= this.#nextLook) this.#pauseWhenDue()
    const steps = pattern.steps(text)
    const time = pattern.time(text)
    const longest = this.#account === undefined ? longestAtOnce : longestInThread
    if (this.#steps + steps > mostSteps || time > longest) return 'too long'
    this.#steps += steps
    if (time > slice && this.#account !== undefined) this.#matchInThread(pattern, text, this.#account)
    return resultOf(pattern.test(text))
  }

  #matchInThread({ source }: Pattern, text: string, account: string): never {
    const at = this.#position
    const keep = (matches: boolean): void => {
      this.#results[at] = resultOf(matches)
    }
    const fail = (error: unknown): void => {
      this.#failure = error
    }
    throw new MatchingPaused(testInThread({ source, text }, account).then(keep, fail))
  }

  #pauseWhenDue(): void {
    this.#nextLook = this.#steps + stepsOfLook
    if (performance.now() - this.#since >= slice) throw new MatchingPaused()
  }
}
