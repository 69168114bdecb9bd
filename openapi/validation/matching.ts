import type { Pattern } from '../../framework/formats/pattern.ts'

/** Steps of all matches of one validation: seconds of processor time at most. */
const mostSteps = 50_000_000

/** Milliseconds after which a validation pauses. */
const slice = 10

/** Steps between two looks at the clock. */
const stepsOfLook = 10_000

/** Thrown before a match when the matches of this turn have taken long. */
export class MatchingPaused extends Error {
  override readonly name = 'MatchingPaused'
  constructor() {
    super('validation paused')
  }
}

export type MatchResult = 'matches' | 'differs' | 'too long'

/**
 * The matches of a validation, which is deterministic: when it begins again after a pause, the matches of before have their kept
 * results, in the same order.
 */
export class Matching {
  readonly #results: MatchResult[] = []
  #position = 0
  #steps = 0
  #nextLook = stepsOfLook
  #since = performance.now()

  /** Begins the validation again. */
  begin(): void {
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
    if (this.#steps + steps > mostSteps || pattern.isTooLong(text)) return 'too long'
    this.#steps += steps
    return pattern.test(text) ? 'matches' : 'differs'
  }

  #pauseWhenDue(): void {
    this.#nextLook = this.#steps + stepsOfLook
    if (performance.now() - this.#since >= slice) throw new MatchingPaused()
  }
}
